import type { Dimension } from './dimension.js'
import { bodies } from './dimensions/bodies.js'
import { columns } from './dimensions/columns.js'
import { connections } from './dimensions/connections.js'
import { depth } from './dimensions/depth.js'
import { models } from './dimensions/models.js'
import { processes } from './dimensions/processes.js'
import { routes } from './dimensions/routes.js'
import { rows } from './dimensions/rows.js'
import { table } from './dimensions/table.js'
import { transactions } from './dimensions/transactions.js'

/** In the order of the documentation. */
export const dimensions: readonly Dimension[] = [
  routes,
  models,
  columns,
  rows,
  bodies,
  depth,
  table,
  connections,
  transactions,
  processes,
]

/** What is said of the figures of a dimension. */
export function explain(name: string): string {
  return dimensions.find((dimension) => dimension.name === name)?.explanation ?? ''
}
