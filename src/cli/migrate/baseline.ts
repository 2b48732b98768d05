import { refuseMoreWords } from '../command.js'
import type { MigrateAction } from './action.js'

export const baseline: MigrateAction = {
  summary: 'marks migrations as applied without running them, for a database that has the tables already',
  options: ['until'],
  async run({ database, directory, words, options }) {
    refuseMoreWords(words, 0, 'sequitur migrate baseline')
    const { baseline: mark } = await import('../../migrations/run/migrate.js')
    const names = await mark(database, { directory }, options['until'])
    process.stdout.write(
      names.length === 0 ? 'All of them are marked already.\n' : `Marked as applied: ${names.join(', ')}\n`,
    )
    return 0
  },
}
