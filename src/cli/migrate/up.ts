import { refuseMoreWords } from '../command.js'
import type { MigrateAction } from './action.js'

export const up: MigrateAction = {
  summary:
    'applies the pending migrations; what a process has begun that was killed is finished. One process does at a time',
  options: [],
  async run({ database, directory, words }) {
    refuseMoreWords(words, 0, 'sequitur migrate up')
    const { migrate } = await import('../../migrations/run/migrate.js')
    const log = (line: string) => void process.stderr.write(`${line}\n`)
    const { applied, outOfOrder, missing, edited } = await migrate(database, { directory, log })
    process.stdout.write(applied.length === 0 ? 'No migration is pending.\n' : `Migrated: ${applied.join(', ')}\n`)
    if (outOfOrder.length > 0)
      process.stdout.write(`Out of order, before one that was applied earlier: ${outOfOrder.join(', ')}\n`)
    if (missing.length > 0) process.stdout.write(`Applied earlier, and without a file: ${missing.join(', ')}\n`)
    if (edited.length > 0)
      process.stdout.write(`Applied earlier, and edited since, which changes no table: ${edited.join(', ')}\n`)
    return 0
  },
}
