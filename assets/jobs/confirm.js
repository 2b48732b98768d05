import { call, Refused } from './client.js'
import { element, jobsText, number } from './elements.js'

/*
 * What an operator may press. Each is confirmed in a dialog that says what will happen.
 */

const byId = (id) => document.getElementById(id)
const dialog = byId('confirm')
const ROLLED_BACK =
  'What failed attempts have written to the database was rolled back, except for steps that are done, and for jobs without a transaction.'
const AGAIN = 'Calls of other services may happen a second time, with the same key as before.'

/** What is done when it is confirmed. Returns a text to show, or undefined to close the dialog. */
let run
/** Called when something was tried. @param refusal the reason, if someone else must log in. */
let ended = () => {}

export function onEnd(listener) {
  ended = listener
}

function ask({ title, lines, verb, isDanger }, work) {
  byId('confirm-title').textContent = title
  byId('confirm-text').replaceChildren(...lines.map((line) => element('p', { textContent: line })))
  byId('confirm-result').textContent = ''
  const className = isDanger ? 'danger' : 'primary'
  Object.assign(byId('confirm-yes'), { textContent: verb, className, hidden: false, disabled: false })
  byId('confirm-no').textContent = 'Cancel'
  run = work
  dialog.showModal()
}

async function confirm() {
  const yes = byId('confirm-yes')
  yes.disabled = true // not pressed twice
  byId('confirm-no').textContent = 'Stop'
  try {
    const told = await run()
    if (told === undefined) dialog.close()
    else byId('confirm-result').textContent = told
  } catch (error) {
    if (error instanceof Refused) {
      dialog.close()
      return ended(error.message)
    }
    byId('confirm-result').textContent = `It was not done: ${error.message}`
  }
  yes.hidden = true
  byId('confirm-no').textContent = 'Close'
  return ended()
}

export function askRetry({ id, name, error }) {
  const isDiscarded = error === 'Discarded' || error === 'JobDiscarded'
  const now = 'It runs as soon as there is a free slot, and has all of its attempts again.'
  const lines = [...(isDiscarded ? ['It was discarded on purpose.'] : []), now, ROLLED_BACK, AGAIN]
  ask({ title: `Retry ${name} ${id}?`, lines, verb: 'Retry' }, async () => {
    await call(`/${id}/retry`, { state: 'dead' })
  })
}

export function askDiscard({ id, name, state }) {
  const isDead = state === 'dead'
  const verb = isDead ? 'Delete' : 'Discard'
  const line = isDead
    ? 'The job is deleted with its input and the results of its steps. This cannot be undone.'
    : 'It does not run. It stays in the list of dead jobs, and can be retried there.'
  ask({ title: `${verb} ${name} ${id}?`, lines: [line], verb, isDanger: true }, async () => {
    await call(`/${id}/discard`, { state })
  })
}

/** @param seen the overview in which the operator has seen them: those that die later are left. */
export function askAll({ name, error }, seen, isRetry) {
  const count = seen.dead.find((group) => group.name === name && group.error === error)?.count ?? 0
  const which = `All jobs ${name} that are dead by ${error || 'an unknown error'}, as you see them now. Those that die later are left.`
  const lines = isRetry
    ? [which, 'They run as soon as there are free slots, and have all of their attempts again.', ROLLED_BACK, AGAIN]
    : [which, 'They are deleted with their inputs and the results of their steps. This cannot be undone.']
  const title = `${isRetry ? 'Retry' : 'Delete'} ${jobsText(count)}?`
  ask({ title, lines, verb: isRetry ? 'Retry all' : 'Delete all', isDanger: !isRetry }, () =>
    changeAll({ name, error, until: seen.now }, isRetry, count),
  )
}

/** In batches, until all are done or the dialog is closed. */
async function changeAll(which, isRetry, count) {
  const [path, verb] = isRetry ? ['/dead/retry', 'retried'] : ['/dead/discard', 'deleted']
  let changed = 0
  let skipped = 0
  for (let cursor = {}; dialog.open;) {
    const result = await call(path, { ...which, ...cursor })
    changed += result.changed
    skipped += result.skipped
    byId('confirm-result').textContent = `${number(changed)} of ${number(count)} ${verb} ...`
    if (result.next_cursor === null) break
    cursor = { next_cursor: result.next_cursor }
  }
  const left = skipped > 0 ? ` ${jobsText(skipped)} left dead: an unfinished job has the same key.` : ''
  return `${jobsText(changed)} ${verb}.${left}`
}

byId('confirm-yes').addEventListener('click', confirm)
byId('confirm-no').addEventListener('click', () => dialog.close())
