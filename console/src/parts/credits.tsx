import * as format from "../format";
import { t } from "../messages";

/** An amount with two decimals; the exact one is in its title. */
export const Credits = ({ amount }: { amount: number }) => <span title={t.words.credits(format.exact(amount))}>{format.credits(amount)}</span>;
