// An app with one model. The argument decides what handles a failure of the start, and whether a provider of the program fails.
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, Inject, lifespan, provide, token } from 'sequitur'

@Table({ tableName: 'villain', timestamps: false })
class Villain extends Base<Villain> {
  @Column({ type: DataType.STRING, allowNull: false, primaryKey: true }) declare name: string
}

const cache = token<string>('cache')

@Controller('/')
class Villains {
  constructor(@Inject(cache) readonly address: string) {}
  @Get('/') count() {
    return Villain.count()
  }
}

const [how] = process.argv.slice(2)
if (how === 'handled') process.on('uncaughtException', ({ name }) => console.log(`handled ${name}`))

function connect(): string {
  if (how === 'own-error') throw new Error('the cache is away')
  return 'cache:1'
}

const providers = [provide(cache, { factory: connect })]
const app = createApp({ controllers: [Villains], models: [Villain], lifespan, providers })
const listening = app.listen(Number(process.env['PORT'] ?? 0))
if (how !== 'unawaited') await listening
