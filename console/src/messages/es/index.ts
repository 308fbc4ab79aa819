// Todos los textos de la consola en español.
//
// Glosario. Se trata de usted, o se evita la persona; los botones van en infinitivo y
// las etiquetas son sustantivos.
//
//   hotspot       punto de acceso, o punto        heartbeat   señal de vida
//   operator      operador                        uptime      disponibilidad
//   staff         personal                        load        carga
//   key           clave                           tier        nivel
//   scope         permiso                         hold        retención
//   device        equipo                          flag        alerta
//   access point  router                          settled     liquidado
//   reward        recompensa                      statement   extracto
//   credits       créditos                        coverage    cobertura
//   link code     código de enlace                home        vivienda
//   passkey       llave de acceso                 role        rol
//   post          cargo                           member      miembro
//   account       cuenta                          owner       titular
import type { Messages } from "..";
import { common } from "./common";
import { correct } from "./correct";
import { frame } from "./frame";
import { hotspots } from "./hotspots";
import { imports } from "./imports";
import { map } from "./map";
import { people } from "./people";
import { rewards } from "./rewards";
import { staff } from "./staff";

export const es: Messages = { ...common, ...frame, ...map, ...hotspots, ...correct, ...imports, ...people, ...rewards, ...staff };
