import { type Db, type Job, PgBoss } from 'pg-boss'
import { Controller, Factory, Injectable, Item, Post, Session } from 'sequitur'
import { NewVideo, Transcode, Video } from './video.js'

/** The statements of pg-boss in the transaction of a session. */
function within({ sequelize }: Session): Db {
  return {
    async executeSql(text: string, values: unknown[] = []) {
      const [rows] = await sequelize.query(text, { bind: values })
      return { rows }
    },
  }
}

@Injectable({ lifetime: 'application' })
export class Boss {
  constructor(readonly boss: PgBoss) {}

  @Factory()
  static async start() {
    const boss = new PgBoss({ connectionString: process.env['PGBOSS_URL'] ?? '', max: 4 })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue('transcode')
    return new this(boss)
  }

  [Symbol.asyncDispose]() {
    return this.boss.stop()
  }
}

@Controller('/videos')
export class VideoController {
  @Post('/', Item.of(Video))
  async create(input: NewVideo, session: Session, { boss }: Boss) {
    const data = await Video.create({ ...input })
    await boss.send('transcode', { video_id: data.id }, { db: within(session), retryLimit: 9, retryBackoff: true })
    return { data }
  }
}

/** The worker: its statements are committed with the end of the job. */
export async function work({ boss }: Boss) {
  await boss.work('transcode', { transactional: true }, async (jobs: Job<Transcode>[], transaction: Db) => {
    for (const { data } of jobs)
      await transaction.executeSql('INSERT INTO transcoded (video_id) VALUES ($1)', [data.video_id])
  })
}
