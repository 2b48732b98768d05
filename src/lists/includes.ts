import type { IncludeOptions } from 'sequelize'

/** An association of a statement, and those below it. */
interface Node {
  /** Whether its rows are sent; otherwise it is joined for a condition or an order. */
  isSent: boolean
  readonly below: Map<string, Node>
}

/**
 * The includes of a statement.
 *
 * @param sent the paths of the associations that are sent: `['team.country']` sends both.
 * @param joined the steps to columns that a condition or the order needs.
 */
export function includesOf(sent: readonly string[], joined: readonly (readonly string[])[]): IncludeOptions[] {
  const root: Node['below'] = new Map()
  for (const path of sent) for (const node of nodesOn(root, path.split('.'))) node.isSent = true
  for (const steps of joined) nodesOn(root, steps)
  return optionsOf(root)
}

function nodesOn(root: Node['below'], steps: readonly string[]): readonly Node[] {
  let level = root
  return steps.map((step) => {
    const node = level.get(step) ?? { isSent: false, below: new Map<string, Node>() }
    level.set(step, node)
    level = node.below
    return node
  })
}

function optionsOf(level: Node['below']): IncludeOptions[] {
  return [...level].map(([association, { isSent, below }]) => ({
    association,
    ...(isSent ? {} : { attributes: [] }),
    ...(below.size > 0 ? { include: optionsOf(below) } : {}),
  }))
}
