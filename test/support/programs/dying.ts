// An app that kills itself at the moment that the path of a request names. Its database is the environment's.
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, createApp, Field, Get, newLifespan, Post, Session, sql, Transactional } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import { Hero, Team } from '../hero.js'

class Line {
  @Field({ type: 'integer' }) id!: number
  @Field() text!: string
}

class Form {
  @File({ maxSize: 1_000_000 }) file!: UploadedFile
}

async function die(): Promise<void> {
  process.kill(process.pid, 'SIGKILL')
  await wait(10_000)
}

@Controller('/')
class Dying {
  @Post('/before-commit') async beforeCommit() {
    await Hero.create({ name: 'request' })
    await die()
  }
  @Post('/after-commit') async afterCommit(session: Session) {
    await Hero.create({ name: 'request' })
    session.afterCommit(die)
  }
  @Post('/after-end') async afterEnd(session: Session) {
    await Hero.create({ name: 'request' })
    session.afterEnd(() => Hero.create({ name: 'first work' }))
    session.afterEnd(async () => {
      await Hero.create({ name: 'second work' })
      await die()
    })
  }
  @Post('/after-response', { status: 204 }) async afterResponse(session: Session) {
    await Hero.create({ name: 'request' })
    session.afterResponse(async () => {
      await Hero.create({ name: 'work' })
      await wait(200) // the client has the response
      await die()
    })
  }
  @Transactional(false)
  @Post('/without-transaction')
  async withoutTransaction() {
    await Hero.create({ name: 'request' })
    await die()
  }
  @Transactional(false)
  @Post('/at-once')
  async atOnce() {
    await die()
  }
  @Get('/export', Rows.of(Line)) export() {
    const text = 'x'.repeat(1_000)
    return rows<Line>(sql`WITH RECURSIVE line (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM line WHERE id < 300)
      SELECT a.id, CAST(${text} AS char(1000)) AS text FROM line AS a CROSS JOIN line AS b`)
  }
  @Post('/saved', { status: 204 }) async saved(@Multipart() { file }: Form) {
    await file.saveTo(join(process.env['FOLDER'] ?? '', 'saved'))
    await Hero.create({ name: 'request' })
    await die()
  }
}

const database = newLifespan(undefined, { sync: true })
await createApp({ controllers: [Dying], models: [Team, Hero], lifespan: database }).listen(0)
