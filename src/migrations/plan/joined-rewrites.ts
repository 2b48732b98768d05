import type { PlacedStep } from './planned.js'

const NAME = '(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|[\\w$]+)'
/** `ALTER TABLE hero `, `ALTER TABLE app."Hero" ` */
const ALTER = new RegExp(`^ALTER TABLE (?:${NAME}\\.)?${NAME} `)

/** Steps that write all rows of a table again, one after the other, become one statement, which writes them once. */
export function joinedRewrites(steps: readonly PlacedStep[]): PlacedStep[] {
  const joined: PlacedStep[] = []
  for (const step of steps) {
    // The sequence of a column may follow its type.
    const at = joined.findLastIndex(({ code }) => !code.sql.startsWith('ALTER SEQUENCE '))
    const before = joined[at]
    const both = before && join(before, step)
    if (both) joined[at] = both
    else joined.push(step)
  }
  return joined
}

function join(before: PlacedStep, step: PlacedStep): PlacedStep | undefined {
  const [first, second] = [rewriteOf(before), rewriteOf(step)]
  if (!first || !second || first.alter !== second.alter) return undefined
  if (before.phase !== step.phase || before.note !== step.note) return undefined
  const advice = [...(before.advice ?? []), ...(step.advice ?? [])]
  const rewritten = [...(before.rewritten ?? []), ...(step.rewritten ?? [])]
  return {
    ...before,
    what: `${before.what}; ${step.what}`,
    code: { kind: 'sql', sql: `${first.alter}${first.actions}, ${second.actions}` },
    ...(advice.length === 0 ? {} : { advice }),
    ...(rewritten.length === 0 ? {} : { rewritten }),
  }
}

/** An ALTER TABLE that writes the rows again; not one that belongs to its neighbors, or says how it is executed. */
function rewriteOf({ note, code, isPart }: PlacedStep): { alter: string; actions: string } | undefined {
  if (code.kind !== 'sql' || isPart || !note.startsWith('rewrites ') || code.sql.includes('ALGORITHM='))
    return undefined
  const alter = ALTER.exec(code.sql)?.[0]
  return alter === undefined ? undefined : { alter, actions: code.sql.slice(alter.length) }
}
