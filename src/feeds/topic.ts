import { createHash } from 'node:crypto'
import { fitting } from '../core/option-checks.js'
import { KEY_LENGTH, MAX_TOPIC } from './tables.js'

/** A topic of one tenant. */
export interface Topic {
  readonly name: string
  /** A digest of both, which stands for it in indexes, locks and the ids of events. */
  readonly key: string
}

/** What a topic may be. */
export const TOPIC = `a text of 1 to ${MAX_TOPIC} characters without spaces around it`

// A topic that begins with a space, or ends with one, would be another on MySQL.
export function isTopic(value: string): boolean {
  const isShort = value.length > 0 && value.length <= MAX_TOPIC
  return isShort && value.trim() === value && value.isWellFormed() && !value.includes('\0')
}

export const checkTopic = fitting(
  (value) => typeof value === 'string' && isTopic(value),
  `${TOPIC}: \`team-\${team.id}\``,
)

/**
 * @param tenant the owner of the session.
 * @param isOrdered whether its events are in the order of their commits. The others have a key of their own: among those that are followed, one that takes no lock
 * could become visible before one with a lower position.
 */
export function topicOf(name: string, tenant: string | undefined, isOrdered = true): Topic {
  const subject = JSON.stringify([tenant ?? null, name, ...(isOrdered ? [] : ['none'])])
  return known.get(subject) ?? remember(subject, name)
}

/** Topics whose digests are kept, of all tenants. */
const MAX_KNOWN = 1_000
const known = new Map<string, Topic>()

function remember(subject: string, name: string): Topic {
  const digest = createHash('sha256').update(subject).digest('base64url')
  const topic = { name, key: digest.slice(0, KEY_LENGTH) }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(subject, topic)
  return topic
}

/** The first number of the advisory locks of those who publish: whoever has one may be about to commit events. */
export const LOCK_CLASS = 0x5e9f

/** The second number of the lock of a topic: 32 bits of its digest. Topics that share one wait for each other, and nothing else. */
export function lockOf(key: string): number {
  return Buffer.from(key, 'base64url').readInt32BE()
}
