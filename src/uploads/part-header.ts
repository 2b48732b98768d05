import { BadRequest, PayloadTooLarge, UnsupportedMediaType } from '../http/errors.js'
import { decodeUtf8 } from '../http/input/body.js'

/** The header of a part, as the parser reads it: a list of values by name in lower case, each byte one character. */
export type RawHeader = Readonly<Record<string, readonly string[]>>

/** The header of a part, parsed. */
export interface PartHeader {
  readonly name: string
  /** Undefined for a text field. */
  readonly fileName: string | undefined
  /** The media type that the client states, in lower case and without parameters. */
  readonly type: string
}

/** The limits of a part's header: its lines, and the bytes of them together. The parser ignores what exceeds its own limits. */
export const HEADER_LIMITS = { lines: 16, bytes: 8 * 1024 }

/** Bytes of a field's name. */
const MAX_NAME_LENGTH = 200

/** @throws BadRequest for a part without a name; PayloadTooLarge for a long header; UnsupportedMediaType for a transfer encoding. */
export function parsePartHeader(header: RawHeader | undefined): PartHeader {
  if (!header) throw malformed('a part has no header that can be read')
  refuseLong(header)
  refuseTransferEncoding(header['content-transfer-encoding']?.[0])
  const parameters = dispositionOf(header['content-disposition'])
  const name = parameters.get('name')
  if (name === undefined) throw malformed('a part has no name')
  if (name.length > MAX_NAME_LENGTH)
    throw new PayloadTooLarge(`The name of a field is longer than ${MAX_NAME_LENGTH} bytes.`)
  const fileName = parameters.get('filename')
  return {
    name: decoded(name),
    fileName: extendedName(parameters.get('filename*')) ?? (fileName === undefined ? undefined : decoded(fileName)),
    type: mediaTypeIn(header['content-type']?.[0]),
  }
}

/** The 400 for a body that is not a multipart form. */
export function malformed(reason: string): BadRequest {
  return new BadRequest(`The body is not a multipart form: ${reason}.`)
}

function refuseLong(header: RawHeader): void {
  const lines = Object.entries(header).flatMap(([name, values]) => values.map((value) => name.length + value.length))
  const bytes = lines.reduce((sum, length) => sum + length, 0)
  if (lines.length > HEADER_LIMITS.lines || bytes > HEADER_LIMITS.bytes)
    throw new PayloadTooLarge(
      `The header of a part has more than ${HEADER_LIMITS.lines} lines or ${HEADER_LIMITS.bytes} bytes.`,
    )
}

// RFC 7578 deprecates it, and no browser sends it: the encoded content would be taken for the content.
function refuseTransferEncoding(encoding = 'binary'): void {
  if (!['binary', '7bit', '8bit'].includes(encoding.trim().toLowerCase()))
    throw new UnsupportedMediaType('Send the parts of the form without Content-Transfer-Encoding.')
}

// ; name="photo"
const PARAMETER = /\s*;\s*([\w!#$&+.^`|~-]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))\s*/gy

function dispositionOf(values: readonly string[] = []): ReadonlyMap<string, string> {
  const [text = '', ...others] = values
  const start = /^\s*form-data\s*(?=;|$)/i.exec(text)
  if (!start || others.length > 0) throw malformed('a part has no Content-Disposition: form-data')
  const parameters = new Map<string, string>()
  let end = start[0].length
  PARAMETER.lastIndex = end
  for (let match = PARAMETER.exec(text); match; match = PARAMETER.exec(text)) {
    const [, name = '', quoted, plain = ''] = match
    const known = name.toLowerCase()
    if (parameters.has(known)) throw malformed(`a part has two of ${known}`)
    parameters.set(known, quoted ?? plain)
    end = PARAMETER.lastIndex
  }
  if (text.slice(end).replace(/^;/, '').trim() !== '')
    throw malformed('the Content-Disposition of a part cannot be read')
  return parameters
}

function mediaTypeIn(text = ''): string {
  const type = text.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream'
}

// Browsers write a quotation mark as %22, curl as \". A backslash before another character is one of a path.
function decoded(bytes: string): string {
  return decodeUtf8(Buffer.from(bytes, 'latin1')).replaceAll('\\"', '"').replaceAll('%22', '"')
}

// RFC 8187: UTF-8''na%C3%AFve.txt
function extendedName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const encoded = /^utf-8'[^']*'(.*)$/is.exec(text)?.[1]
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded)
  } catch {}
  throw malformed('filename* of a part is not UTF-8')
}
