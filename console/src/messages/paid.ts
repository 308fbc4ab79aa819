// Words about what hotspots earn, which a network without rewards does not have.
import { rewardsOn } from "../head";

/** A part of a text where rewards are on, else another. */
export const ofRewards = (text: string, otherwise = ""): string => (rewardsOn() ? text : otherwise);
