import { createInterface } from 'node:readline/promises'
import type { Choices } from '../../migrations/difference/choices.js'
import type { PossibleRename } from '../../migrations/difference/possible-renames.js'
import type { Compared } from '../../migrations/plan/plan-migration.js'
import { CommandError } from '../command.js'

/**
 * The choices, with an answer for each column that only the database has, and one of its type that only the models have. On a terminal it is asked for.
 *
 * @throws CommandError elsewhere, with the flags that answer it.
 */
export async function decideRenames(both: Compared, given: Choices): Promise<Choices> {
  const { differenceOf } = await import('../../migrations/plan/plan-migration.js')
  let choices = given
  for (;;) {
    const [first, ...others] = differenceOf(both, choices).unclear
    if (!first) return choices
    if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
      throw new CommandError(questionOf([first, ...others]))
    choices = await ask(first, choices)
  }
}

function questionOf(unclear: readonly PossibleRename[]): string {
  const lines = unclear.map(({ kind, from, to, toName }) => {
    const what = `${kind} ${from} is only in the database, and ${toName}, with the same ${kind === 'column' ? 'type' : 'columns'}, only in the models.`
    return `${what}\n  --rename ${from}:${to}   it has a new name;   --new ${toName}   it is another one;   --drop ${from}   it and its values are deleted`
  })
  return lines.join('\n')
}

async function ask({ kind, from, to, toName, type }: PossibleRename, choices: Choices): Promise<Choices> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const question = `Is ${toName} (${type}) the new name of the ${kind} ${from}? Its values are kept then. [y/n] `
    const isRenamed = /^y/i.test((await terminal.question(question)).trim())
    return isRenamed
      ? { ...choices, rename: [...(choices.rename ?? []), `${from}:${to}`] }
      : { ...choices, new: [...(choices.new ?? []), toName] }
  } finally {
    terminal.close()
  }
}
