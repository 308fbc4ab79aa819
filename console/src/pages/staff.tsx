import { session } from "../session";
import { Keys } from "./keys";
import { Verifications } from "./verifications";

export function StaffPage() {
  const verifies = session.may("hotspots:verify");
  const manages = session.may("keys:manage");
  return (
    <section class="page">
      <h1>Staff</h1>
      {!verifies && !manages && <p class="note">Your key has neither the scope hotspots:verify nor keys:manage.</p>}
      {verifies && <Verifications />}
      {manages && <Keys />}
      <section class="card wide">
        <h2>Audit</h2>
        <p>
          Who changed what, and when, is read beside the database: <code>beacon audit --db …</code>. It is not served over the network.
        </p>
      </section>
    </section>
  );
}
