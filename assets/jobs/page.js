import { call, Refused, setCredentials } from './client.js'
import { askAll, askDiscard, askRetry, onEnd } from './confirm.js'
import { button, clock, element, showRows } from './elements.js'
import { ages, buttonsOf, factsOf, jobRow, notices, showOverview } from './overview.js'

/*
 * The page of operators: loads what it shows, and refreshes it.
 */

const PAUSE = 5_000
const byId = (id) => document.getElementById(id)
const filters = byId('filters')
const login = byId('login')
const jobDialog = byId('job')

let isPaused = false
let timer
/** Why the last request has failed. */
let failure
let overview
/** The jobs of the list, and the cursor of those after them. */
let list = { jobs: [], next: null, isLong: false, at: 0 }
/** Counts what is loaded for the list: what another filter has overtaken is not shown. */
let loads = 0
/** The job in the dialog. */
let opened

function query(cursor) {
  const chosen = [...new FormData(filters)].filter(([, value]) => value !== '')
  return `?${new URLSearchParams([...chosen, ...(cursor ? [['next_cursor', cursor]] : [])])}`
}

/** @param cursor of the jobs to add to the list; without one they replace it. */
async function loadList(cursor) {
  const own = (loads += 1)
  const { data, meta } = await call(query(cursor))
  if (own !== loads) return
  const jobs = cursor ? [...list.jobs, ...data] : data
  list = { jobs, next: meta.next_cursor, isLong: cursor !== undefined, at: Date.now() }
}

async function refresh() {
  clearTimeout(timer)
  const began = performance.now()
  await guarded(async () => {
    overview = await call('/overview')
    if (!list.isLong) await loadList()
    failure = undefined
    login.hidden = true
  })
  // A database that is slow is not asked more often.
  if (login.hidden && !isPaused && !document.hidden)
    timer = setTimeout(refresh, Math.max(PAUSE, 10 * (performance.now() - began)))
}

/** Shows what the work has loaded, or why it has failed. */
async function guarded(work) {
  try {
    await work()
  } catch (error) {
    if (error instanceof Refused) return askWho(error.message)
    failure = error.message
  }
  return show()
}

function show() {
  const state = failure === undefined ? `As of ${clock(Date.now())}` : 'No answer'
  byId('updated').textContent = isPaused ? `${state}, paused` : `${state}, every ${PAUSE / 1000} s`
  byId('main').hidden = false
  showNotices()
  if (!overview) return
  showOverview(overview, byId)
  const times = ages(overview.now)
  showRows(
    byId('jobs'),
    list.jobs.map((job) => jobRow(job, times)),
    'No job matches.',
  )
  const isOld = list.isLong ? `, as of ${clock(list.at)}. Press Show to refresh them` : ''
  byId('list-note').textContent = `The newest first${isOld}.`
  byId('more').hidden = list.next === null
}

function showNotices() {
  const old = overview ? ' What you see is old.' : ''
  const found = failure === undefined ? notices(overview) : [['bad', `The app does not answer: ${failure}${old}`]]
  const shown = byId('notices')
  const made = found.map(([kind, text]) => element('p', { className: `notice ${kind}`, textContent: text }))
  // What has not changed is not read out again.
  if (made.map(({ outerHTML }) => outerHTML).join('') !== shown.innerHTML) shown.replaceChildren(...made)
}

function askWho(reason) {
  clearTimeout(timer)
  if (jobDialog.open) jobDialog.close()
  byId('updated').textContent = 'Not logged in'
  byId('login-reason').textContent = reason
  byId('main').hidden = true
  login.hidden = false
}

async function openJob(id) {
  const { data } = await call(`/${id}`)
  opened = data
  byId('job-title').textContent = `${data.name} ${data.id}`
  const facts = factsOf(data, ages(overview.now))
  byId('job-facts').replaceChildren(
    ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  )
  byId('job-input').textContent = typeof data.input === 'string' ? data.input : JSON.stringify(data.input, null, 2)
  byId('job-buttons').replaceChildren(...buttonsOf(data), button('Close', '', { action: 'close' }))
  if (!jobDialog.open) jobDialog.showModal()
}

const jobOf = (id) => (jobDialog.open ? opened : list.jobs.find((job) => job.id === id))

function filter(values) {
  for (const [name, value] of Object.entries(values)) filters.elements.namedItem(name).value = value
  filters.scrollIntoView()
  void guarded(() => loadList())
}

const actions = {
  filter,
  open: ({ id }) => guarded(() => openJob(id)),
  close: () => jobDialog.close(),
  retry: ({ id }) => askRetry(jobOf(id)),
  discard: ({ id }) => askDiscard(jobOf(id)),
  'retry-all': (group) => askAll(group, overview, true),
  'delete-all': (group) => askAll(group, overview, false),
}

document.addEventListener('click', ({ target }) => {
  const { action, ...data } = target.closest('button[data-action]')?.dataset ?? {}
  if (action) void actions[action](data)
})
onEnd((refusal) => {
  if (refusal !== undefined) return askWho(refusal)
  if (jobDialog.open) jobDialog.close()
  list = { ...list, isLong: false }
  return refresh()
})
filters.addEventListener('submit', (event) => {
  event.preventDefault()
  void guarded(() => loadList())
})
filters.elements.namedItem('state').addEventListener('change', () => void guarded(() => loadList()))
byId('more').addEventListener('click', () => void guarded(() => loadList(list.next)))
byId('pause').addEventListener('click', ({ target }) => {
  isPaused = !isPaused
  target.setAttribute('aria-pressed', String(isPaused))
  void refresh()
})
login.addEventListener('submit', (event) => {
  event.preventDefault()
  const header = byId('login-header').value.trim()
  const value = byId('login-value').value.trim()
  // A token without a scheme is one of type Bearer.
  const isBare = header.toLowerCase() === 'authorization' && !value.includes(' ')
  setCredentials(value === '' ? {} : { [header]: isBare ? `Bearer ${value}` : value })
  void refresh()
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !isPaused) void refresh()
})
void refresh()
