import { NoticeChannel } from '../db/own-tables/notify.js'
import { Waking } from '../db/own-tables/waking.js'

/** Wakes the readers of this process: events of these topics were committed, by the keys of the topics. */
export const eventsPublished = new Waking<readonly string[]>()

/** Wakes those of other processes. */
export const feedNotices = new NoticeChannel('sequitur_feed')
