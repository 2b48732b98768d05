import { planLive } from './feeds/live/live-route.js'
import { serveLiveRoutes } from './http/routing/live.js'

export { createFeedTables, dropFeedTables } from './feeds/create-tables.js'
export { InvalidEventData, UnreadableEventData } from './feeds/errors.js'
export { Event, type EventOptions } from './feeds/event.js'
export { Feeds, feedsOf, type PublishOptions } from './feeds/feeds.js'
export { Feed, type FollowOptions } from './feeds/follow/feed.js'
export { subscribe, type SubscribedEvent, type SubscribeOptions } from './feeds/follow/subscription.js'
export { On, type OnOptions } from './feeds/on.js'
export { forward, type ForwardOptions, Relay, type RelayedEventOf } from './feeds/relay/forward.js'
export type { RelayedEvent } from './feeds/relay/relayed-event.js'
export { LostRelayError } from './feeds/relay/relay-lease.js'
export { RelayStops, RelayTimeout } from './feeds/relay/relay-run.js'
export { FeedEvent } from './feeds/tables.js'

serveLiveRoutes(planLive)
