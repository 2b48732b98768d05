import { readsWithoutCast } from './dates.js'
import { commandClassOf, type MariadbCommand, type MariadbCommandClass, type MariadbCore } from '../../drivers/mysql.js'

const fastCommands = new WeakMap<MariadbCommandClass, MariadbCommandClass>()

/** The class of the driver's commands with quicker reading of rows. */
export function fastCommandOf(core: MariadbCore): MariadbCommandClass {
  const Command = commandClassOf(core)
  const known = fastCommands.get(Command) ?? withFewCasts(Command)
  fastCommands.set(Command, known)
  return known
}

/**
 * The driver calls `typeCast` for each value, and allocates about twelve closures for the call. For most types of columns, Sequelize's only calls `next()`: their
 * values are read by the function that `next()` calls.
 */
function withFewCasts(Command: MariadbCommandClass): MariadbCommandClass {
  return class extends Command implements MariadbCommand {
    override setParser(): void {
      const { opts, _columns: columns } = this
      const { typeCast } = opts
      if (typeof typeCast !== 'function' || !columns) return super.setParser()
      this.opts = withoutCast(opts)
      super.setParser()
      this.opts = opts
      const { _parseFunction: functions } = this
      if (functions?.length !== columns.length) return super.setParser()
      for (const [index, column] of columns.entries())
        if (!readsWithoutCast(typeCast, column.type)) functions[index] = this.readCastValue.bind(this, column)
    }
  }
}

const optionsWithoutCast = new WeakMap<object, object>()

function withoutCast(options: object): object {
  const known: object = optionsWithoutCast.get(options) ?? Object.create(options, { typeCast: { value: undefined } })
  optionsWithoutCast.set(options, known)
  return known
}
