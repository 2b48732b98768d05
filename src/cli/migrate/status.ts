import { escapeForLog } from '../../core/log-text.js'
import { refuseMoreWords } from '../command.js'
import { tableOf } from '../table.js'
import type { MigrateAction } from './action.js'

export const status: MigrateAction = {
  summary: 'lists which are applied; exits with 1 if some are pending, have changed, or have no file',
  options: [],
  async run({ database, directory, words }) {
    refuseMoreWords(words, 0, 'sequitur migrate status')
    const { migrationStatus } = await import('../../migrations/run/migrate.js')
    const { applied, pending, unfinished, missing, changed, edited } = await migrationStatus(database, { directory })
    const begun = (name: string) => {
      const done = unfinished.get(name)
      return done === undefined ? '' : `begun, ${done === 1 ? '1 step is' : `${done} steps are`} done`
    }
    const stateOf = (name: string): readonly string[] => {
      if (missing.includes(name)) return ['missing', name, 'applied, and without a file']
      if (edited.includes(name)) return ['edited', name, 'applied, and its text has changed since']
      return changed.includes(name)
        ? ['changed', name, 'its steps are others than were applied']
        : ['applied', name, '']
    }
    const rows = [...applied.map(stateOf), ...pending.map((name) => ['pending', name, begun(name)])]
    const cells = rows.map((row) => row.map((cell) => escapeForLog(cell)))
    process.stdout.write(rows.length === 0 ? 'No migrations.\n' : tableOf(cells))
    return pending.length + missing.length + changed.length === 0 ? 0 : 1
  },
}
