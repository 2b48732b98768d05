import type { Find, Join } from '../db/statements/find.js'
import { BootError } from '../core/boot-error.js'

/** @throws BootError for find options that no page can be cut of, with what to write instead. */
export function refuseUnpageable({ model, options, joins }: Find): void {
  const given = options as Readonly<Record<string, unknown>>
  if (given['group'] !== undefined || given['having'] !== undefined)
    throw new BootError(
      `paginate(select(${model.name}, { group })): grouped rows are no rows of the model, and their number is not what COUNT says. ` +
        'Write the statement as text: paginate(sql`SELECT team, count(*) AS heroes FROM hero GROUP BY team ORDER BY team`).',
    )
  for (const name of ['limit', 'offset'])
    if (given[name] !== undefined && given[name] !== null)
      throw new BootError(
        `paginate(select(${model.name}, { ${name} })): what the client asks for decides where a page begins and ends. Take ${name} away; ` +
          `newPagination({ defaultPageSize, maxPageSize }) says how long pages are.`,
      )
  for (const { path, option } of allJoins(joins))
    for (const name of ['right', 'or'] as const)
      if (Reflect.get(option, name) === true)
        throw new BootError(
          `paginate(select(${model.name})): the include of ${path.join('.')} with { ${name}: true } joins rows of ${model.name} to any number of others, ` +
            `also none: its rows are not those of the model. Take ${name} away, or write the statement as text: paginate(sql\`SELECT ...\`).`,
        )
}

function allJoins(joins: readonly Join[]): Join[] {
  return joins.flatMap((join) => [join, ...allJoins(join.joins)])
}
