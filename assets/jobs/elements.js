/*
 * Texts and elements. Values become text, never HTML.
 */

const numbers = new Intl.NumberFormat('en')

/** 1234 -> '1,234' */
export const number = (value) => numbers.format(value)
export const jobsText = (count) => `${number(count)} ${count === 1 ? 'job' : 'jobs'}`
export const clock = (date) => new Date(date).toLocaleTimeString([], { hour12: false })
export const moment = (date) => new Date(date).toLocaleString([], { hour12: false })

/** 75,000 -> '1 min' */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86_400)} days`
}

/** @param age in milliseconds; negative for a time that comes. */
export const ago = (age) => (age < 0 ? `in ${duration(-age)}` : `${duration(age)} ago`)

export function element(tag, { data = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  Object.assign(made.dataset, data)
  made.append(...children)
  return made
}

/** @param title the name of its column, which a phone shows in each cell. */
export function cell(title, content, className = '') {
  return element('td', { className, data: { title } }, element('div', {}, ...[content].flat()))
}

/** @param data its action, with what that is about. */
export function button(text, className, data) {
  return element('button', { type: 'button', textContent: text, className, data })
}

/** Replaces only the rows that have changed: selected text and the focus stay where they are. */
export function showRows(table, rows, empty) {
  const [body] = table.tBodies
  const none = element('td', { className: 'empty', colSpan: table.tHead.rows[0].cells.length, textContent: empty })
  const all = rows.length > 0 ? rows : [element('tr', {}, none)]
  const focused = body.contains(document.activeElement) ? JSON.stringify(document.activeElement.dataset) : undefined
  for (const [index, row] of all.entries()) {
    const old = body.rows[index]
    if (!old) body.append(row)
    else if (old.outerHTML !== row.outerHTML) old.replaceWith(row)
  }
  while (body.rows.length > all.length) body.lastElementChild.remove()
  if (focused === undefined || body.contains(document.activeElement)) return
  for (const other of body.querySelectorAll('button')) if (JSON.stringify(other.dataset) === focused) other.focus()
}
