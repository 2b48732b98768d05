import { Queue } from 'bullmq'
import { Controller, Injectable, Item, Post } from 'sequitur'
import { Attempt, Job, Jobs } from 'sequitur/jobs'
import { NewVideo, Transcode, Video } from './video.js'

@Injectable({ lifetime: 'application' })
export class VideoQueue {
  readonly #queue = new Queue('example', { connection: { url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' } })

  async publish(key: string, data: Transcode) {
    const retries = { attempts: 10, backoff: { type: 'exponential', delay: 5_000 } }
    const kept = { removeOnComplete: { age: 3 * 86_400 }, removeOnFail: { age: 7 * 86_400 } } // seconds
    await this.#queue.add('transcode', data, { jobId: key, ...retries, ...kept })
  }

  [Symbol.asyncDispose]() {
    return this.#queue.close()
  }
}

export class VideoJobs {
  @Job({ name: 'video.relay', queue: 'relay', attempts: 20 })
  async relay(input: Transcode, queue: VideoQueue, attempt: Attempt) {
    await queue.publish(attempt.key, { ...input })
  }
}

@Controller('/videos')
export class VideoController {
  @Post('/', Item.of(Video))
  async create(input: NewVideo, jobs: Jobs) {
    const data = await Video.create({ ...input })
    await jobs.add(VideoJobs, 'relay', { video_id: data.id })
    return { data }
  }
}
