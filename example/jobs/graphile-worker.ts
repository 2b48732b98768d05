import { Controller, Item, Post, Session, sql } from 'sequitur'
import { NewVideo, Video } from './video.js'

@Controller('/videos')
export class VideoController {
  @Post('/', Item.of(Video))
  async create(input: NewVideo, session: Session) {
    const data = await Video.create({ ...input })
    const payload = JSON.stringify({ video_id: data.id })
    const key = `transcode-${data.id}`
    await session.execute(
      sql`SELECT graphile_worker.add_job('transcode', ${payload}::json, max_attempts => 10, job_key => ${key})`,
    )
    return { data }
  }
}
