import { DataTypes, type ModelStatic, type Model, Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'
import { compared, planMigration } from '../../src/migrations/plan/plan-migration.js'

/*
 * Milliseconds of the difference of 50 models and their tables: with none of them there, and with all. The database must be empty.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/migrations/diff.ts <url> [models]
 */

const [url = '', count = '50'] = process.argv.slice(2)

function define(sequelize: Sequelize, number: number): ModelStatic<Model> {
  const owner = { type: DataTypes.INTEGER, references: { model: 'bench_0', key: 'id' } }
  const attributes = {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    ...Object.fromEntries(
      [...'abcdefgh'].map((name) => [name, { type: DataTypes.STRING(50), allowNull: false, defaultValue: '' }]),
    ),
    ...(number === 0 ? {} : { owner }),
  }
  const options = {
    tableName: `bench_${number}`,
    timestamps: false,
    indexes: [{ fields: ['a'] }, { fields: ['b', 'c'] }],
  }
  return Sequelize.prototype.define.call(sequelize, `Bench${number}`, attributes, options)
}

const database = newLifespan(url)
await database.during(async () => {
  const { sequelize } = database
  for (let number = 0; number < Number(count); number++) define(sequelize, number)
  const models = Object.values(sequelize.models)
  const measure = async (what: string) => {
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const begun = performance.now()
      const { files } = await planMigration(await compared(sequelize, models), {})
      times.push(performance.now() - begun)
      if (round === 0) console.log(`${what}: ${files.flatMap(({ steps }) => steps).length} steps`)
    }
    console.log(`  ${times.map((time) => time.toFixed(0)).join(', ')} ms`)
  }
  await measure('no table')
  await sequelize.sync()
  await measure('all tables')
  await sequelize.drop()
})
