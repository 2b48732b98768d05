import type { EventDeclaration } from '../event.js'
import type { EventRow } from '../statements/read.js'

/** An event that was read from the table. */
export class ReadEvent {
  readonly key: string
  readonly position: number
  readonly id: string
  readonly type: string
  readonly topic: string
  /** Bytes of its data. */
  readonly size: number
  readonly created: Date
  readonly #payload: unknown
  #shared: { readonly declaration: EventDeclaration; readonly data: unknown } | undefined

  constructor(row: EventRow) {
    this.key = row.topic_key
    this.position = Number(row.position)
    this.id = row.id
    this.type = row.type
    this.topic = row.topic
    this.size = Number(row.size)
    this.created = new Date(Number(row.created))
    this.#payload = row.payload
  }

  /** A new object for each call. @throws UnreadableEventData */
  read({ data }: EventDeclaration): unknown {
    return typeof this.#payload === 'string' ? data.read(this.#payload) : data.readParsed(this.#payload)
  }

  /** One object for all that only read it. @throws UnreadableEventData */
  shared(declaration: EventDeclaration): unknown {
    if (this.#shared?.declaration !== declaration) this.#shared = { declaration, data: this.read(declaration) }
    return this.#shared.data
  }
}
