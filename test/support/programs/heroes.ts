// An app that a test kills, or whose handlers do what no handler should. Its database is the environment's.
import { createReadStream } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Sequelize } from 'sequelize'
import { Controller, createApp, file, Get, newLifespan, Post, Session, sql, Transactional } from 'sequitur'
import { Hero, Team } from '../hero.js'

@Controller('/')
class Heroes {
  @Post('/:name') async create(name: string) {
    await Hero.create({ name })
    await Team.create({ name })
  }
  @Get('/count') count() {
    return Hero.count()
  }
}

@Controller('/unawaited')
class Unawaited {
  @Post('/duplicate') async duplicate() {
    await Hero.create({ name: 'twice' })
    void Hero.create({ name: 'twice' })
  }
  @Post('/no-table') noTable(session: Session) {
    void session.sequelize.query('SELECT * FROM nowhere')
  }
  @Post('/invalid') invalid() {
    void Hero.create({ name: null as unknown as string })
  }
  @Post('/invalid-bulk') invalidBulk() {
    void Hero.bulkCreate([{ name: null as unknown as string }], { validate: true })
  }
  @Post('/invalid-flush') invalidFlush(session: Session) {
    session.add(Hero.build({ name: null as unknown as string }))
    void session.flush()
  }
  @Transactional({ readOnly: true })
  @Post('/read-only')
  readOnly() {
    void Hero.create({ name: 'refused' })
  }
  @Post('/nested') nested(session: Session) {
    void session.nested(async () => {
      await Hero.create({ name: 'undone' })
      throw new Error('no')
    })
  }
  @Post('/thrown') async thrown() {
    void Hero.create({ name: 'one' })
    void Hero.create({ name: 'one' })
    await Hero.count()
    throw new Error('no')
  }
  @Post('/late') late() {
    void wait(20).then(() => Hero.create({ name: 'late' }))
  }
  @Post('/late-chain') async lateChain() {
    await Hero.count()
    void (async () => {
      for (let n = 0; n < 100; n++) {
        await Hero.create({ name: `chain ${n}` })
        await wait(1)
      }
    })()
  }
  @Post('/late-session') lateSession(session: Session) {
    void wait(20).then(() => session.add(Hero.build({ name: 'late' })))
  }
  @Post('/impossible') impossible() {
    void Hero.findOne({ where: { id: 'not' as never } })
  }
  @Post('/impossible-row') impossibleRow() {
    void Hero.create({ name: 'late', age: '99999999999' as never })
  }
  @Post('/out-of-range-after-a-failure') async outOfRange() {
    await Hero.findOne({ where: { id: 'not' as never } }).catch(() => {})
    void Hero.create({ name: 'late', age: 2 ** 40 })
  }
  @Post('/late-after-end') lateAfterEnd(session: Session) {
    void wait(20).then(() => session.afterEnd(() => Hero.count()))
  }
  @Post('/late-after-commit') lateAfterCommit(session: Session) {
    void wait(20).then(() => session.afterCommit(() => {}))
  }
  @Post('/late-nested') lateNested(session: Session) {
    void wait(20).then(() => session.nested(() => Hero.count()))
  }
  @Post('/late-transaction') lateTransaction(session: Session) {
    void wait(20).then(() => session.sequelize.transaction(() => Hero.count()))
  }
  @Post('/stream', { produces: 'text/plain' }) async stream(session: Session) {
    await session.execute(sql`SELECT 1 AS one`)
    return file(createReadStream('./no/such/file'), { type: 'text/plain' })
  }
  @Post('/other-sequelize') otherSequelize() {
    void new Sequelize('sqlite::memory:', { logging: false }).query('SELECT * FROM elsewhere')
  }
  @Post('/foreign') foreign() {
    void wait(20).then(() => Promise.reject(new Error('not of the database')))
  }
}

const database = newLifespan(undefined, { sync: true })
await createApp({ controllers: [Unawaited, Heroes], models: [Team, Hero], lifespan: database }).listen(0)
