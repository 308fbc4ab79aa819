import { session } from "../session";
import { OwnData } from "./account";
import { Keys } from "./keys";
import { HomePrivacy } from "./privacy";
import { Verifications } from "./verifications";

export function StaffPage() {
  const verifies = session.may("hotspots:verify");
  const manages = session.may("keys:manage");
  return (
    <section class="page">
      <h1>Staff</h1>
      {!verifies && !manages && <p class="note">This needs a key with the scope hotspots:verify or keys:manage.</p>}
      {verifies && <Verifications />}
      {verifies && (
        <section class="card wide">
          <h2>Inventory</h2>
          <p>
            <a href="#/staff/inventory">What the network's devices run</a>: models, firmware, and who has an old agent.
          </p>
        </section>
      )}
      {session.may("admin") && <HomePrivacy />}
      {manages && <Keys />}
      {manages && <OwnData />}
      <section class="card wide">
        <h2>Audit</h2>
        <p>
          To see who changed what, run <code>beacon audit --db …</code> on a server. The audit is not available over the network.
        </p>
      </section>
    </section>
  );
}
