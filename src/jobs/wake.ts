import { NoticeChannel } from '../db/own-tables/notify.js'
import { Waking } from '../db/own-tables/waking.js'

/** Wakes the workers of this process: jobs were added, and committed. */
export const jobsAdded = new Waking()

/** Wakes those of other processes. */
export const jobNotices = new NoticeChannel('sequitur_job')
