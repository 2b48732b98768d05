import { type Command, CommandError, refuseMoreWords } from './command.js'
import { DEFAULT_MODULE, loadApp, type LoadedApp } from './load-app.js'

type Jobs = NonNullable<LoadedApp['jobs']>
type Working = Pick<Jobs, 'work'>

export const work: Command = {
  usage: 'work [module] [--queue <name>=<number>]',
  details: `Runs the jobs and relays of the app that the module creates, without listening, until SIGTERM or SIGINT: then it waits for those that run, as app.close() does. A second
signal ends it at once. Without a module: ${DEFAULT_MODULE}.
  --queue  how many jobs of a queue run at once: --queue mail=5 --queue default=10. Default: work of createApp(), else 10 of each queue`,
  options: ['queue'],
  lists: ['queue'],
  run: async (words, options) => {
    refuseMoreWords(words, 1, 'sequitur work')
    return workOn(await workingOf(words[0] ?? DEFAULT_MODULE), options['queue'])
  },
}

/** The app that a module creates. @throws CommandError if it has nothing to run. */
async function workingOf(module: string): Promise<Working> {
  const { jobs, relays } = await loadApp(module)
  const app = jobs ?? relays
  if (app) return app
  throw new CommandError(
    `The app of ${module} has no jobs and no relays. Name them: createApp({ jobs: [MailJobs], relays: [toNats] }).`,
  )
}

/** The jobs of the app that a module creates. @throws CommandError if it has none. */
export async function jobsOf(module: string): Promise<Jobs> {
  const { jobs } = await loadApp(module)
  if (jobs) return jobs
  throw new CommandError(`The app of ${module} has no jobs. Name their classes: createApp({ jobs: [MailJobs] }).`)
}

/** @param queues `mail=5,default=10`. @returns never: a signal ends the process. */
export async function workOn(app: Working, queues: string | undefined): Promise<number> {
  await app.work(queues === undefined ? undefined : Object.fromEntries(queues.split(',').map(readQueue)))
  return new Promise(() => {})
}

function readQueue(text: string): [queue: string, most: number] {
  const [, queue, most] = /^([^=]+)=(\d{1,4})$/.exec(text) ?? []
  if (queue === undefined) throw new CommandError(`--queue is '${text}'. Write a queue and a number: --queue mail=5`)
  return [queue, Number(most)]
}
