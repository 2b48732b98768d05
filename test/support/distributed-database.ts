import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { serverUrl } from './postgres.js'

/*
 * Doubles of CockroachDB and YugabyteDB: a PostgreSQL database behind a proxy that reads the protocol, and answers by their rules. What is refused is
 * refused by the server itself, so that its transaction is in the state that the client is told.
 */

/** What happens to a statement. `ambiguous`: it is unknown whether it was executed, and it was, or was not. */
export type Fate = 'restart' | 'ambiguous, executed' | 'ambiguous, undone' | undefined

export interface Rules {
  /** The weakest isolation of transactions: weaker ones are accepted, and are this one. */
  readonly isolation: 'REPEATABLE READ' | 'SERIALIZABLE'
  /** The fate of a statement that is not ended by other rules. COMMIT is one. */
  readonly fate?: (sql: string) => Fate
  /** False: only `SAVEPOINT cockroach_restart` is accepted, as before CockroachDB 20.1. */
  readonly savepoints?: boolean
}

/** The SQLSTATE and the message of an error. */
type Refusal = readonly [code: string, message: string]

const RETRY_ERROR = 'restart transaction: TransactionRetryWithProtoRefreshError:'
const RESTART: Refusal = ['40001', `${RETRY_ERROR} ReadWithinUncertaintyIntervalError`]
const AFTER_RESTART: Refusal = ['40001', `${RETRY_ERROR} cannot rollback to savepoint after a transaction restart`]
const AMBIGUOUS: Refusal = ['40003', 'result is ambiguous: error=unable to determine whether command was applied']

/** What CockroachDB does not have. */
const UNIMPLEMENTED: readonly (readonly [RegExp, Refusal])[] = [
  [/FUNCTION pg_temp\./, ['0A000', 'unimplemented: temporary functions are not supported']],
  [/^\s*LOCK TABLE/i, ['42601', 'at or near "lock": syntax error']],
]

/** The URL of a new database with the rules of CockroachDB. */
export async function cockroach(t: TestContext, rules: Omit<Rules, 'isolation'> = {}): Promise<string> {
  const url = await serverUrl()
  await execute(url, `ALTER DATABASE "${nameOf(url)}" SET default_transaction_isolation = 'serializable'`)
  await execute(
    url,
    `CREATE SEQUENCE rowids; CREATE FUNCTION unique_rowid() RETURNS bigint LANGUAGE sql
     AS $$ SELECT 900000000000000000 + nextval('rowids') * 7919 % 1000 * 32768 $$`,
  )
  return proxy(t, url, { ...rules, isolation: 'SERIALIZABLE' })
}

/** The URL of a new database with the rules of YugabyteDB whose READ COMMITTED is not enabled. */
export async function yugabyte(t: TestContext, rules: Omit<Rules, 'isolation'> = {}): Promise<string> {
  const url = await serverUrl()
  await execute(url, `ALTER DATABASE "${nameOf(url)}" SET yb.effective_isolation = 'repeatable read'`)
  return proxy(t, url, { ...rules, isolation: 'REPEATABLE READ' })
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

async function proxy(t: TestContext, url: string, rules: Rules): Promise<string> {
  const server = new URL(url)
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => {}) // its 'close' event follows
      socket.on('close', () => other.destroy())
    }
    const connection = new ProxiedConnection(client, upstream, rules)
    connection.start()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const { port } = listener.address() as { port: number }
  return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
}

/** A message of the protocol; the first ones of a client have no type. */
interface Message {
  readonly type: string
  readonly body: Buffer
}

/** The messages of a client up to a Query or a Sync, which the server answers with ReadyForQuery. */
type Unit = readonly Message[]

/** How the answer to a unit differs from the server's. */
interface Answer {
  /** How many ParseComplete the client expects. */
  parsed?: number
  /** Sent in the place of CommandComplete. */
  refusal?: Refusal
}

class ProxiedConnection {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #rules: Rules
  readonly #units: Unit[] = []
  readonly #sqlOf = new Map<string, string>()
  #answer: Answer | undefined
  #status = 'I'
  #restarts = false

  constructor(client: Socket, upstream: Socket, rules: Rules) {
    this.#client = client
    this.#upstream = upstream
    this.#rules = rules
  }

  start(): void {
    this.#readClient()
    this.#readServer()
  }

  #readClient(): void {
    const messages = new Messages(true)
    let unit: Message[] = []
    this.#client.on('data', (bytes) => {
      for (const message of messages.read(bytes)) {
        if (!'QSPBDECH'.includes(message.type) || message.type === '') {
          this.#upstream.write(toBytes(message)) // startup, cancellation, passwords, the end
          continue
        }
        unit.push(message)
        if (message.type !== 'Q' && message.type !== 'S') continue
        this.#units.push(unit)
        unit = []
      }
      this.#sendNext()
    })
  }

  #readServer(): void {
    const messages = new Messages(false)
    this.#upstream.on('data', (bytes) => {
      for (const message of messages.read(bytes)) this.#forward(message)
    })
  }

  #forward(message: Message): void {
    const { type, body } = message
    const answer = this.#answer
    if (type === 'E' && body.includes('C40001\0')) this.#restarts = true
    if (type === '1' && answer?.parsed !== undefined && answer.parsed-- <= 0) return
    this.#client.write(type === 'C' && answer?.refusal ? errorResponse(answer.refusal) : toBytes(message))
    if (type !== 'Z') return
    this.#status = body.toString('latin1')
    if (this.#status === 'I') this.#restarts = false
    this.#answer = undefined
    this.#sendNext()
  }

  #sendNext(): void {
    if (this.#answer) return
    const unit = this.#units.shift()
    if (unit === undefined) return
    this.#answer = {}
    const sql = this.#sqlIn(unit)
    if (sql.startsWith('ROLLBACK TO') && this.#restarts) return this.#refuseRollback()
    const refusal = this.#status === 'E' ? undefined : this.#refusalOf(sql)
    if (refusal) return this.#raise(unit, refusal)
    if (sql === 'COMMIT' && this.#status === 'T') return this.#commit()
    if (this.#status !== 'E' && isOfProgram(sql) && this.#rules.fate?.(sql) === 'restart')
      return this.#raise(unit, RESTART)
    for (const message of unit) this.#upstream.write(toBytes(this.#rewritten(message)))
  }

  #refusalOf(sql: string): Refusal | undefined {
    const { savepoints = true, isolation } = this.#rules
    if (!savepoints && /^SAVEPOINT (?!cockroach_restart)/.test(sql))
      return ['0A000', 'unimplemented: SAVEPOINT not supported except for cockroach_restart']
    return isolation === 'SERIALIZABLE' ? UNIMPLEMENTED.find(([pattern]) => pattern.test(sql))?.[1] : undefined
  }

  #commit(): void {
    const fate = this.#rules.fate?.('COMMIT')
    if (fate) this.#answer = { refusal: fate === 'restart' ? RESTART : AMBIGUOUS }
    const isUndone = fate === 'restart' || fate === 'ambiguous, undone'
    this.#upstream.write(query(isUndone ? 'ROLLBACK' : 'COMMIT'))
  }

  #refuseRollback(): void {
    this.#answer = undefined
    this.#client.write(Buffer.concat([errorResponse(AFTER_RESTART), toBytes({ type: 'Z', body: Buffer.from('E') })]))
    this.#sendNext()
  }

  // A statement that is prepared with it stays prepared, as on a server that fails when it executes it.
  #raise(unit: Unit, [code, message]: Refusal): void {
    const raise = `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$`
    const [first] = unit
    if (first?.type === 'Q')
      return void this.#upstream.write(query((BEGINNING.exec(first.body.toString('utf8'))?.[0] ?? '') + raise))
    const kept = unit.filter(({ type }) => type === 'P' || type === 'C')
    this.#answer = { parsed: kept.filter(({ type }) => type === 'P').length }
    const zeros = (count: number) => Buffer.alloc(count)
    const messages = [
      { type: 'P', body: Buffer.concat([zeros(1), Buffer.from(`${raise}\0`), zeros(2)]) },
      { type: 'B', body: zeros(8) },
      { type: 'E', body: zeros(5) },
      { type: 'S', body: zeros(0) },
    ]
    for (const message of [...kept, ...messages]) this.#upstream.write(toBytes(message))
  }

  #sqlIn(unit: Unit): string {
    let sql = ''
    for (const { type, body } of unit) {
      const [first = '', second = ''] = body.toString('utf8').split('\0', 2)
      if (type === 'Q') sql = first.replace(BEGINNING, '')
      if (type === 'P') this.#sqlOf.set(first, second)
      if (type === 'B') sql = this.#sqlOf.get(second) ?? ''
    }
    return sql
  }

  #rewritten(message: Message): Message {
    const { type, body } = message
    if (type === 'Q') return { type, body: Buffer.from(`${this.#rewrittenSql(body.toString('utf8').slice(0, -1))}\0`) }
    const [name = '', sql = ''] = type === 'P' ? body.toString('utf8').split('\0', 2) : []
    if (!sql.startsWith('START TRANSACTION')) return message
    return { type, body: Buffer.concat([Buffer.from(`${name}\0${this.#rewrittenSql(sql)}\0`), Buffer.alloc(2)]) }
  }

  #rewrittenSql(sql: string): string {
    const { isolation } = this.#rules
    const begin = /^(START TRANSACTION)(?: ISOLATION LEVEL (\w+ \w+|SERIALIZABLE))?( READ ONLY)?$/.exec(sql)
    const level = begin?.[2] === 'SERIALIZABLE' ? 'SERIALIZABLE' : isolation
    return begin
      ? `START TRANSACTION ISOLATION LEVEL ${level}${begin[3] ?? ''}`
      : sql.replaceAll('yb_effective_transaction_isolation_level', 'yb.effective_isolation')
  }
}

/** What begins a transaction in front of the first statement of a message. */
const BEGINNING = /^START TRANSACTION[^;]*;\s*(?=\S)/

/** Whether it is a statement of the program, and not of Sequelize when it opens a connection or reads the tables. */
function isOfProgram(sql: string): boolean {
  return (
    /^(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql) &&
    !/pg_catalog|pg_class|information_schema|current_setting/.test(sql)
  )
}

/** Splits a stream into messages. */
class Messages {
  #bytes = Buffer.alloc(0)
  #isStarting: boolean

  constructor(isOfClient: boolean) {
    this.#isStarting = isOfClient
  }

  *read(bytes: Buffer): Generator<Message> {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (;;) {
      const start = this.#isStarting ? 0 : 1
      if (this.#bytes.length < start + 4) return
      const end = start + this.#bytes.readInt32BE(start)
      if (this.#bytes.length < end) return
      const type = this.#bytes.toString('latin1', 0, start)
      const body = this.#bytes.subarray(start + 4, end)
      this.#bytes = this.#bytes.subarray(end)
      this.#isStarting = false
      yield { type, body }
    }
  }
}

function toBytes({ type, body }: Message): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, body])
}

function query(sql: string): Buffer {
  return toBytes({ type: 'Q', body: Buffer.from(`${sql}\0`) })
}

function errorResponse([code, message]: Refusal): Buffer {
  return toBytes({ type: 'E', body: Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`) })
}
