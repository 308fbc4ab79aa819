import * as format from "../format";

/** An amount with two decimals; the exact one is in its title. */
export const Credits = ({ amount }: { amount: number }) => <span title={`${format.exact(amount)} credits`}>{format.credits(amount)}</span>;
