/*
 * Requests to the controller of the page.
 */

// .../jobs/page/parts/client.js belongs to .../jobs, wherever the app is mounted.
const base = new URL('../..', import.meta.url).href.replace(/\/$/, '')

/** The headers that were typed in. The browser itself sends cookies, and passwords that it has asked for. */
let credentials = {}

export function setCredentials(headers) {
  credentials = headers
}

/** Someone else must log in. */
export class Refused extends Error {}

/** GET, or POST with a body. @throws Refused without credentials; Error with the detail of the response. */
export async function call(path, body) {
  const request = body
    ? { method: 'POST', headers: { 'content-type': 'application/json', ...credentials }, body: JSON.stringify(body) }
    : { headers: credentials }
  const signal = AbortSignal.timeout(30_000)
  const response = await fetch(base + path, { ...request, signal, cache: 'no-store', redirect: 'error' })
  const text = await response.text()
  if (response.ok) return text === '' ? undefined : JSON.parse(text)
  const reason = reasonOf(response.status, text)
  throw response.status === 401 || (response.status === 403 && !body) ? new Refused(reason) : new Error(reason)
}

function reasonOf(status, text) {
  try {
    const { detail, title } = JSON.parse(text)
    return `${detail ?? title ?? 'The app has refused it.'} (${status})`
  } catch {
    return `The app has answered ${status}.`
  }
}
