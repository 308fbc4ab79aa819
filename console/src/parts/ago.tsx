// How long ago something was, which goes on while it is looked at.
import { useEffect, useState } from "preact/hooks";
import { now } from "../clock";
import * as format from "../format";

const often = 5_000; // milliseconds

/** The time itself is the title. */
export function Ago({ at }: { at: string | null }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), often);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <>{format.time(at)}</>;
  return (
    <time dateTime={at} title={format.time(at)}>
      {format.ago(at, now())}
    </time>
  );
}
