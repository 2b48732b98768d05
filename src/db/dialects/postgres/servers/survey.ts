import type { Sequelize } from 'sequelize'
import { endsWithin } from '../../../../core/promises.js'
import { type Host, showHost } from '../../../config/server-address.js'

/** How a survey queries a server. */
interface Asking {
  /** Milliseconds for all hosts together. */
  readonly timeout: number
  connect(config: object): Promise<object>
  /** Resolves if the server accepts writes. */
  ask(connection: object): Promise<unknown>
  close(connection: object): void
}

/** The hosts of each instance that accepted writes at the start, if there were several. */
const rivals = new WeakMap<Sequelize, readonly string[]>()

/** For the log, if several hosts of the URL accepted writes when the first connection was opened. */
export function rivalsOf(sequelize: Sequelize): string | undefined {
  const hosts = rivals.get(sequelize)
  return (
    hosts &&
    `Several hosts of its URL accept writes: ${hosts.join(', ')}. Only one of them is used, that with the newest timeline. ` +
      'Stop the others: what programs write there is lost to this one.'
  )
}

/** Asks the other hosts of the URL, all at once. Those that do not answer in time are left out. */
export async function surveyOthers(
  sequelize: Sequelize,
  hosts: readonly Host[],
  config: object,
  { timeout, connect, ask, close }: Asking,
): Promise<void> {
  const { host, port } = config as Host // the options of the connection that is being checked
  const own = showHost({ host, port })
  const writable: string[] = []
  const survey = async (other: Host): Promise<void> => {
    const connection = await connect({ ...config, ...other })
    try {
      await ask(connection)
      writable.push(showHost(other))
    } finally {
      close(connection)
    }
  }
  const others = hosts.filter((other) => showHost(other) !== own)
  await endsWithin(Promise.allSettled(others.map(survey)), timeout)
  if (writable.length > 0) rivals.set(sequelize, [own, ...writable])
}
