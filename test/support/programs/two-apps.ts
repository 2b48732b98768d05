// Two apps in one process, each with a database and a log of its own. Their handlers do not await what fails.
import { setTimeout as wait } from 'node:timers/promises'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, HttpError, type Logger, newLifespan, Post, Session } from 'sequitur'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

@Controller('/')
class Second {
  @Post('/invalid') invalid() {
    void Entry.create({ name: null as unknown as string })
  }
  @Post('/refused') refused(session: Session) {
    void session.sequelize.query('SELECT * FROM nowhere')
  }
  @Post('/http') http() {
    void Promise.reject(new HttpError(404, 'not awaited'))
  }
  @Post('/late') late() {
    void wait(200).then(() => Entry.create({ name: 'late' }))
  }
}

const second = createApp({
  controllers: [Second],
  models: [Entry],
  lifespan: newLifespan('sqlite:///:memory:', { sync: true }),
  logger: logger('second'),
})

@Controller('/')
class First {
  @Post('/invalid') invalid() {
    void Note.create({ name: null as unknown as string })
  }
  @Post('/refused') refused(session: Session) {
    void session.sequelize.query('SELECT * FROM nowhere')
  }
  @Post('/http') http() {
    void Promise.reject(new HttpError(404, 'not awaited'))
  }
  @Post('/second/:path') async other(path: string) {
    await second.inject({ method: 'POST', url: `/${path}` })
  }
  @Post('/close-second') async closeSecond() {
    await second.close()
  }
}

const first = createApp({
  controllers: [First],
  models: [Note],
  lifespan: newLifespan('sqlite:///:memory:', { sync: true }),
  logger: logger('first'),
})
await second.start()
await first.listen(0)

function logger(name: string): Logger {
  const write = (message: string) => console.log(`${name}: ${message}`)
  return { info: (message) => console.log(message), warn: write, error: write }
}
