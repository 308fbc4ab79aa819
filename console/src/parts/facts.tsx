import type { ComponentChildren } from "preact";

/** What something is called, and what it is; false or nothing: it is left out. */
export type Fact = [name: string, value: ComponentChildren] | false | "" | null | undefined;

/** Facts below each other. */
export function Facts({ of }: { of: Fact[] }) {
  return (
    <dl class="facts">
      {of.map(
        (fact) =>
          fact && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}

/** Facts side by side, each in a box. */
export function Tiles({ of, class: kind = "tiles", label }: { of: Fact[]; class?: string; label?: string }) {
  return (
    <dl class={kind} aria-label={label}>
      {of.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
