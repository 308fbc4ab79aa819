// Who may do what: from the table by which the server decides.
import { grants } from "../grants";
import { t } from "../messages";
import { Table } from "../parts/table";
import { posts, roles, type Permission } from "../people";
import { postsWith, rolesWith } from "../permissions";

type Said = keyof typeof t.may;

// What only keys do, or is no page of the console's, is left out.
const said = (permission: Permission): permission is Said => permission in t.may;

interface Props {
  title: string;
  columns: readonly string[];
  names: Record<string, string>;
  has: (permission: Permission) => readonly string[];
}

function MayTable({ title, columns, names, has }: Props) {
  const rows = grants.map(({ permission }) => permission).filter((permission) => said(permission) && has(permission).length > 0) as Said[];
  return (
    <details class="card wide may-what">
      <summary>{title}</summary>
      <Table label={title} columns={[[t.staffPeople.may], ...columns.map((column): [string, string] => [names[column] ?? "", "mark spare"])]}>
        {rows.map((permission) => (
          <tr key={permission}>
            <th scope="row">
              {t.may[permission]}
              <span class="small instead">{has(permission).map((one) => names[one]).join(", ")}</span>
            </th>
            {columns.map((column) => (
              <td key={column} class="mark spare">
                {has(permission).includes(column) ? (
                  <>
                    <span aria-hidden="true">✓</span>
                    <span class="sr-only">{t.words.yes}</span>
                  </>
                ) : (
                  <>
                    <span aria-hidden="true">–</span>
                    <span class="sr-only">{t.words.no}</span>
                  </>
                )}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** In an account, by role. */
export const WhoMayWhat = () => <MayTable title={t.members.mayWhat} columns={roles} names={t.roles} has={rolesWith} />;

/** In the network, by post. */
export const StaffMayWhat = () => <MayTable title={t.staffPeople.mayWhat} columns={posts} names={t.posts} has={postsWith} />;
