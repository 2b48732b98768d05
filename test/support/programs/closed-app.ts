// An app that is closed while what its handler has started, and does not await, still runs. Exits with code 3 afterwards.
import { setTimeout as wait } from 'node:timers/promises'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, newLifespan, Post } from 'sequitur'

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

let close = () => {}
const closed = new Promise<void>((resolve) => (close = resolve))

@Controller('/')
class Late {
  @Post() async start() {
    await Entry.count()
    void closed.then(() => Entry.create({ name: 'late' }))
    void closed.then(() => Entry.create({ name: null as unknown as string }))
  }
}

const database = newLifespan(undefined, { sync: true })
const app = createApp({ controllers: [Late], models: [Entry], lifespan: database })
await app.inject({ method: 'POST', url: '/' })
const { sequelize } = database
await app.close()
close()
void sequelize.query('SELECT 1')
await wait(500)
console.log('still here')
process.exitCode = 3
