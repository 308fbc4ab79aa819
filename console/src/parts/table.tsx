// A table, which scrolls by itself where the page is narrow.
import type { ComponentChildren } from "preact";

interface Props {
  label: string;
  columns: [name: string, kind?: string][]; // the kind is a CSS class
  foot?: ComponentChildren;
  children: ComponentChildren;
}

export function Table({ label, columns, foot, children }: Props) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, kind]) => (
              <th scope="col" class={kind} key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </div>
  );
}
