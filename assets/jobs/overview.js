import { ago, button, cell, duration, element, jobsText, moment, number, showRows } from './elements.js'

/*
 * What is wrong, and the tables of queues, errors, workers and jobs.
 */

/** Milliseconds after which a job that is due is late. */
const LATE = 60_000
const HOUR = 3_600_000
const WAITING = ['ready', 'delayed', 'limited']

/** Returns the age of a time by the clock of the database: that of this device may be wrong. */
export function ages(now) {
  const age = (date) => Date.parse(now) - Date.parse(date)
  return {
    age,
    ago: (date) => ago(age(date)),
    time: (date) => element('span', { title: moment(date) }, ago(age(date))),
  }
}

/** What an operator must know first: pairs of how bad it is, and a sentence. */
export function notices({ now, queues, workers, dead }) {
  const { age, ago } = ages(now)
  const due = queues.filter(({ oldest_due }) => oldest_due !== null)
  const isAnyWorker = workers.some(({ valid }) => valid)
  const unworked = isAnyWorker ? due.filter((queue) => queue.workers === 0) : []
  const late = due.filter((queue) => !unworked.includes(queue) && age(queue.oldest_due) >= LATE)
  const silent = workers.filter(({ valid, running }) => !valid && running > 0)
  const died = dead.filter(({ newest, error }) => age(newest) < HOUR && error !== 'Discarded')
  const found = [
    ...(isAnyWorker ? [] : [noWorker(due)]),
    ...unworked.map((queue) => unworkedQueue(queue, duration(age(queue.oldest_due)))),
    ...late.map((queue) => lateQueue(queue, duration(age(queue.oldest_due)))),
    ...silent.map(({ host, valid_until, running }) => [
      'warn',
      `A worker on ${host} is silent: its lease has ended ${ago(valid_until)}. ${jobsText(running)} of it will run again in another worker.`,
    ]),
    ...died.map(({ name, error, count, newest }) => [
      'bad',
      `${name}: ${jobsText(count)} dead by ${error || 'an unknown error'}, the last one ${ago(newest)}.`,
    ]),
  ]
  const nothing = 'Nothing is stuck: no job is due for more than a minute, and none has died in the last hour.'
  return found.length > 0 ? found : [['good', nothing]]
}

function noWorker(due) {
  const advice = 'Start one with createApp({ work }), or by npx sequitur work.'
  return [due.length > 0 ? 'bad' : 'warn', `No process works on jobs. ${advice}`]
}

function unworkedQueue({ queue }, time) {
  const advice = `Name it in createApp({ work }), or start npx sequitur work --queue ${queue}=5.`
  return ['bad', `${queue}: the oldest job is due for ${time}, and no process works on this queue. ${advice}`]
}

function lateQueue({ queue, workers, ready, running }, time) {
  const text = `${queue}: the oldest job is due for ${time}. Ready: ${number(ready)}, running: ${number(running)}.`
  if (running > 0) return ['warn', `${text} There is more work than slots.`]
  return ['bad', workers > 0 ? `${text} Its workers take none.` : `${text} Does a process work on this queue?`]
}

export function showOverview(overview, byId) {
  const times = ages(overview.now)
  const { queues, dead, workers } = overview
  showRows(
    byId('queues'),
    queues.map((queue) => queueRow(queue, times)),
    'There are no jobs.',
  )
  byId('errors').hidden = dead.length === 0
  showRows(
    byId('dead'),
    dead.map((group) => deadRow(group, times)),
    'No job is dead.',
  )
  showRows(
    byId('workers'),
    workers.map((worker) => workerRow(worker, times)),
    'No process works on jobs.',
  )
}

function queueRow({ queue, workers, oldest_due, failed, done, ...counts }, { age }) {
  const show = (state) => button(number(counts[state]), 'link', { action: 'filter', state, queue, name: '', error: '' })
  const count = (title, state, ...more) =>
    counts[state] === 0 ? cell(title, '0', 'number zero') : cell(title, [show(state), ...more], 'number')
  const dueSince = () => {
    const className = age(oldest_due) >= LATE ? 'bad-text' : ''
    return element('span', { className, title: moment(oldest_due) }, `for ${duration(age(oldest_due))}`)
  }
  const afterError = failed > 0 ? [element('small', {}, `${number(failed)} after an error`)] : []
  return element(
    'tr',
    {},
    cell('Queue', queue),
    cell('Workers', workers === null ? 'not known' : number(workers), workers === 0 ? 'number zero' : 'number'),
    cell('Oldest due', oldest_due === null ? 'none' : dueSince()),
    count('Ready', 'ready'),
    count('Running', 'running'),
    count('Delayed', 'delayed', ...afterError),
    count('Limited', 'limited'),
    count('Dead', 'dead'),
    cell('Done in a minute', number(done), 'number'),
  )
}

function deadRow({ name, error, count, oldest, newest }, { time }) {
  const show = button(number(count), 'link', { action: 'filter', state: 'dead', queue: '', name, error })
  const all = (text, className, action) => button(text, className, { action, name, error })
  return element(
    'tr',
    {},
    cell('Job', name),
    cell('Error', element('code', {}, error || 'unknown')),
    cell('Dead', show, 'number'),
    cell('First', time(oldest)),
    cell('Last', time(newest)),
    cell('', [all('Retry all', '', 'retry-all'), all('Delete all', 'danger', 'delete-all')], 'actions'),
  )
}

/** What a worker works on, with how many jobs of it at once. */
function queuesText(queues) {
  if (queues === null) return 'not known'
  return queues.map(({ queue, slots }) => `${queue} (${number(slots)})`).join(', ')
}

function workerRow({ id, host, queues, valid, valid_until, running }, { age, ago }) {
  const lease = valid ? `valid for ${duration(-age(valid_until))}` : `ended ${ago(valid_until)}`
  return element(
    'tr',
    {},
    cell('Host', host),
    cell('Lease', element('span', { className: valid ? '' : 'bad-text', title: moment(valid_until) }, lease)),
    cell('Works on', queuesText(queues)),
    cell('Running', number(running), 'number'),
    cell('Id', element('code', {}, id.slice(0, 8))),
  )
}

/** What may be pressed for a job. */
export function buttonsOf({ id, state }) {
  if (state === 'dead')
    return [button('Retry', '', { action: 'retry', id }), button('Delete', 'danger', { action: 'discard', id })]
  return WAITING.includes(state) ? [button('Discard', 'danger', { action: 'discard', id })] : []
}

/** Enough of the digest of a limit to see which jobs share one. */
const shortLimit = (key) => key.slice(0, 8)

/** Since when a job is in its state. */
function whenOf({ state, due, started, finished }, { time }) {
  if (finished !== null) return [state === 'dead' ? 'died ' : 'done ', time(finished)]
  return state === 'running' && started !== null ? ['started ', time(started)] : ['due ', time(due)]
}

export function jobRow(job, times) {
  const { id, name, queue, state, attempt, finished, limit_key, error, log } = job
  const limit = limit_key !== null && finished === null ? [element('small', {}, `limit ${shortLimit(limit_key)}`)] : []
  const code = (text) => (text === null ? '' : element('code', {}, text))
  return element(
    'tr',
    {},
    cell('Job', [button(`${name} ${id}`, 'link', { action: 'open', id }), element('small', {}, queue)]),
    cell('State', [state, ...limit]),
    cell('Attempts', String(attempt), 'number'),
    cell('When', whenOf(job, times)),
    cell('Last error', code(error)),
    cell('Log entry', code(log)),
    cell('', buttonsOf(job), 'actions'),
  )
}

const holderButtons = (ids) =>
  element('span', {}, ...ids.map((id) => button(`job ${id}`, 'link', { action: 'open', id })))

/** The facts of an opened job: names and values. */
export function factsOf(job, { ago }) {
  const at = (date) => date && `${moment(date)}, ${ago(date)}`
  return [
    ['State', job.state],
    ['Queue', `${job.queue}, priority ${job.priority}`],
    ['Attempts', String(job.attempt)],
    ['Last error', job.error],
    ['Log entry', job.log],
    ['Added', at(job.created)],
    ['Due', at(job.due)],
    ['Started', at(job.started)],
    ['Finished', at(job.finished)],
    ['Worker', job.worker],
    ['Limit', job.limit_key && shortLimit(job.limit_key)],
    ['Running in its limit', job.limit_holders.length > 0 && holderButtons(job.limit_holders)],
    ['Tenant', job.tenant],
    ['Steps done', job.steps.join(', ')],
    ['Trace', job.trace],
  ].filter(([, value]) => value)
}
