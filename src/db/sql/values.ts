const NUMBER = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a string is a number of SQL, such as ' +1.', '.5' and '1e-7'. */
export function isNumeric(text: string): boolean {
  return NUMBER.test(text)
}

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Whether a UUID is in lower case, as all databases store it. */
export function isStoredUuid(text: string): boolean {
  return UUID.test(text) && text === text.toLowerCase()
}
