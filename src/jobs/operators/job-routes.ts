import { Transactional } from '../../db/session/transactional.js'
import { PACKAGE_ROOT } from '../../core/package-copies.js'
import { Path, Query } from '../../http/input/parameters.js'
import { file } from '../../http/output/file.js'
import { redirect } from '../../http/output/redirect.js'
import { reply } from '../../http/output/reply.js'
import { Request } from '../../http/request.js'
import { guard } from '../../http/routing/guard.js'
import { Get, Post } from '../../http/routing/methods.js'
import { ChangedJobs, DeadJobs, Discard, ID, JobQuery, Retry } from './inputs.js'
import { JobDesk } from './job-desk.js'
import { JobEntry, JobPage, OpenedJob, Overview } from './views.js'

const ASSETS = new URL('assets/jobs/', PACKAGE_ROOT)

// The page has no scripts and styles but those of this origin, and sends requests to no other.
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const PARTS = ['page.css', 'page.js', 'client.js', 'confirm.js', 'elements.js', 'overview.js']

/** Browsers set both headers themselves: a page of another site cannot change them. Other clients send neither. */
const sameOrigin = guard(
  [Request],
  ({ headers: { 'sec-fetch-site': site, origin, host } }) =>
    site === undefined ? origin === undefined || hostOf(origin) === host : site === 'same-origin' || site === 'none',
  { detail: 'This request comes from a page of another site.' },
)

// Browsers send `null` for a page without an origin.
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

const MISSING = { 404: 'There is no such job' }
/** Two operators may change the same job at once: the second gets the answer that it would get a moment later. */
const RIVALS = { retry: 5 }
const CHANGE = { requires: [sameOrigin], status: 200 }

/** The routes of `jobsController()`. Those of the page are open: they have no data, and a browser opens them without a token. */
export class JobRoutes {
  @Get('/', JobPage, { summary: 'List jobs, the newest first, without their inputs' })
  list(@Query() query: JobQuery, desk: JobDesk) {
    return desk.list(query)
  }

  @Get('/overview', Overview, { summary: 'Count jobs by queue and state, errors of dead jobs, and workers' })
  overview(desk: JobDesk) {
    return desk.overview()
  }

  @Get('/page', {
    produces: 'text/html',
    summary: 'The page of operators',
    responses: { 308: 'The address without a slash at its end, to which the links of the page are relative' },
  })
  page({ path }: Request) {
    if (path.endsWith('/')) return redirect('../page', 308)
    const headers = { 'content-security-policy': CSP, 'referrer-policy': 'no-referrer' }
    return file(new URL('page.html', ASSETS), { type: 'text/html; charset=utf-8', headers })
  }

  @Get('/page/parts/:name', { produces: 'text/*', summary: 'A script or the style of the page' })
  part(@Path({ enum: PARTS }) name: string) {
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/css'
    return file(new URL(name, ASSETS), { type: `${type}; charset=utf-8` })
  }

  @Transactional(RIVALS)
  @Post('/dead/retry', ChangedJobs, {
    ...CHANGE,
    summary: 'Make dead jobs of a name ready, at most 100 at a time',
    description: 'Jobs whose key an unfinished job has are left dead, and counted as skipped.',
  })
  retryDead(which: DeadJobs, desk: JobDesk) {
    return desk.retryDead(which)
  }

  @Transactional(RIVALS)
  @Post('/dead/discard', ChangedJobs, { ...CHANGE, summary: 'Delete dead jobs of a name, at most 100 at a time' })
  discardDead(which: DeadJobs, desk: JobDesk) {
    return desk.deleteDead(which)
  }

  @Get('/:id', { data: OpenedJob }, { summary: 'Get a job with its input', errors: MISSING })
  async get(@Path({ pattern: ID }) id: string, desk: JobDesk) {
    return { data: await desk.open(id) }
  }

  @Transactional(RIVALS)
  @Post(
    '/:id/retry',
    { data: JobEntry },
    {
      ...CHANGE,
      summary: 'Make a dead job ready, with all of its attempts',
      errors: { ...MISSING, 409: 'The job is not dead, or an unfinished job has its key' },
    },
  )
  async retry(@Path({ pattern: ID }) id: string, _: Retry, desk: JobDesk) {
    return { data: await desk.retry(id) }
  }

  @Transactional(RIVALS)
  @Post(
    '/:id/discard',
    { data: JobEntry },
    {
      ...CHANGE,
      summary: 'Make a waiting job dead, or delete a dead one',
      responses: { 204: 'The dead job is deleted' },
      errors: { ...MISSING, 409: 'The job runs, is done, or is in another state than the one that was sent' },
    },
  )
  async discard(@Path({ pattern: ID }) id: string, { state }: Discard, desk: JobDesk) {
    const data = await desk.discard(id, state)
    return data ? reply({ data }) : reply(undefined, { status: 204 })
  }
}
