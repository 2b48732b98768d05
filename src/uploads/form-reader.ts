import type { Abort } from '../core/abort.js'
import { InvalidInput, PayloadTooLarge, UnsupportedMediaType } from '../http/errors.js'
import { decodeUtf8, type JsonBody, LARGE, mediaTypeOf, refuseOtherEncodings } from '../http/input/body.js'
import { readStrings } from '../http/input/read-strings.js'
import type { Request } from '../http/request.js'
import { parseableShape } from '../schema/input/parse-string.js'
import { escapePointer } from '../core/json-pointer.js'
import { type FileShape, type JsonSchema, type ObjectShape, propertiesOf, type Shape } from '../schema/shape/shape.js'
import { DEFAULT_MAX_ITEMS, fitsMediaTypes } from './file-field.js'
import { malformed, type PartHeader } from './part-header.js'
import { readParts } from './parser.js'
import { KeptBytes, Spool } from './spool.js'
import { type StoredContent, UploadedFile } from './uploaded-file.js'

export const MULTIPART = 'multipart/form-data'

/** A property that is a file, or a list of files. */
interface FileField {
  readonly file: FileShape
  readonly isList: boolean
  readonly most: number
}

/** Reads the forms of one class. */
export class FormReader {
  readonly #files: ReadonlyMap<string, FileField>
  readonly #texts: ReadonlyMap<string, Shape>
  readonly #bodyLimit: number | undefined

  /** @param bodyLimit the largest body in bytes; undefined for what its files and the `bodyLimit` of the app allow. */
  constructor(shape: ObjectShape, bodyLimit: number | undefined) {
    const properties = propertiesOf(shape, 'input')
    const files = properties.flatMap(([name, property]) => {
      const field = fileFieldOf(property.shape)
      return field ? [[name, field] as const] : []
    })
    this.#files = new Map(files)
    const texts = properties.filter(([name]) => !this.#files.has(name))
    this.#texts = new Map(texts.map(([name, property]) => [name, parseableShape(property.shape)]))
    this.#bodyLimit = bodyLimit
  }

  /** The media types of the files, as OpenAPI documents them. */
  get encoding(): Readonly<Record<string, JsonSchema>> {
    const encoded = [...this.#files].flatMap(([name, { file }]) =>
      file.mediaTypes ? [[name, { contentType: file.mediaTypes.join(', ') }] as const] : [],
    )
    return Object.fromEntries(encoded)
  }

  /**
   * Reads a form. Its files are removed at the end of the request.
   *
   * @param stop when it is aborted, nothing more is read.
   * @throws UnsupportedMediaType for another body; what {@link readParts} throws; PayloadTooLarge for a file beyond its limit.
   */
  async read(request: Request, appLimit: number, stop?: Abort): Promise<JsonBody> {
    const boundary = boundaryOf(request)
    const spool = new Spool()
    request.onEnd(() => spool.release())
    const form = new ReceivedForm(this.#files, this.#texts, spool, appLimit)
    const limit = this.#bodyLimit ?? appLimit + this.#largestFiles()
    await readParts(request, boundary, limit, (header, content) => form.add(header, content), stop)
    return form.body()
  }

  #largestFiles(): number {
    return [...this.#files.values()].reduce((sum, { file, most }) => sum + file.maxSize * most, 0)
  }
}

function fileFieldOf(shape: Shape): FileField | undefined {
  if (shape.kind === 'file') return { file: shape, isList: false, most: 1 }
  if (shape.kind !== 'array' || shape.items.kind !== 'file') return undefined
  return { file: shape.items, isList: true, most: shape.maxItems ?? DEFAULT_MAX_ITEMS }
}

// RFC 2046
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'()+,./:=?-]{1,70}))\s*(?:;|$)/i

/** @throws UnsupportedMediaType for another media type; BadRequest without a boundary. */
function boundaryOf({ raw: { headers } }: Request): string {
  const type = mediaTypeOf(headers)
  if (type !== MULTIPART)
    throw new UnsupportedMediaType(
      `Send the body as ${MULTIPART}${type ? `, not ${type}` : ', with this Content-Type and a boundary'}.`,
    )
  refuseOtherEncodings(headers)
  const [, quoted, plain] = BOUNDARY.exec(headers['content-type'] ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed('the Content-Type has no boundary of 1 to 70 characters')
  return boundary
}

/** The parts of one form that have arrived. */
class ReceivedForm {
  readonly #files: ReadonlyMap<string, FileField>
  readonly #texts: ReadonlyMap<string, Shape>
  readonly #spool: Spool
  readonly #maxTextSize: number
  readonly #receivedFiles = new Map<string, unknown[]>()
  readonly #receivedTexts = new Map<string, string[]>()
  /** The names of files that the class does not declare. */
  readonly #unknown = new Set<string>()
  #textSize = 0

  constructor(
    files: ReadonlyMap<string, FileField>,
    texts: ReadonlyMap<string, Shape>,
    spool: Spool,
    maxTextSize: number,
  ) {
    this.#files = files
    this.#texts = texts
    this.#spool = spool
    this.#maxTextSize = maxTextSize
  }

  async add(header: PartHeader, content: AsyncIterable<Buffer>): Promise<void> {
    const { name, fileName } = header
    const field = this.#files.get(name)
    if (fileName === undefined) return this.#addText(name, field !== undefined, content)
    if (field) return this.#addFile(header, fileName, field, content)
    if (this.#texts.has(name)) throw invalid(name, 'must be text, not a file')
    this.#unknown.add(name)
    await ignored(content)
  }

  async #addText(name: string, isFile: boolean, content: AsyncIterable<Buffer>): Promise<void> {
    const kept = new KeptBytes()
    for await (const chunk of content) {
      this.#textSize += chunk.length
      if (this.#textSize > this.#maxTextSize)
        throw new PayloadTooLarge(`The text fields of the form are larger than ${this.#maxTextSize} bytes.`)
      kept.add(chunk)
    }
    const text = decodeUtf8(kept.take())
    if (isFile) push(this.#receivedFiles, name, text)
    else if (this.#texts.has(name)) push(this.#receivedTexts, name, text)
  }

  async #addFile(
    { name, type }: PartHeader,
    fileName: string,
    { file, isList, most }: FileField,
    content: AsyncIterable<Buffer>,
  ): Promise<void> {
    const isSurplus = (this.#receivedFiles.get(name)?.length ?? 0) >= most
    if (isList && isSurplus) throw invalid(name, `must NOT have more than ${most} items`)
    const isRefused = isSurplus || (file.mediaTypes !== undefined && !fitsMediaTypes(type, file.mediaTypes))
    const bounded = boundedContent(name, file.maxSize, content)
    // Validation refuses such a file later: its content is not stored.
    const stored = isRefused ? await ignored(bounded) : await this.#spool.store(bounded)
    // A browser sends a file field in which no file was chosen as an empty file without a name.
    if (fileName === '' && stored.size === 0) return
    push(this.#receivedFiles, name, new UploadedFile(fileName, type, stored))
  }

  body(): JsonBody {
    const read = () => this.#json()
    return { json: read(), again: read, isLarge: this.#textSize > LARGE.bytes, mayBeIllFormed: true }
  }

  #json(): unknown {
    const texts = [...this.#texts].map(
      ([name, shape]) => [name, readStrings(shape, this.#receivedTexts.get(name))] as const,
    )
    const files = [...this.#files].map(([name, { isList }]) => {
      const values = this.#receivedFiles.get(name)
      return [name, isList || (values && values.length > 1) ? values?.slice() : values?.[0]] as const
    })
    const unknown = [...this.#unknown].map((name) => [name, true] as const) // validation needs only their names
    return Object.fromEntries([...texts, ...files, ...unknown].filter(([, value]) => value !== undefined))
  }
}

function push<T>(lists: Map<string, T[]>, name: string, value: T): void {
  const list = lists.get(name)
  if (list) list.push(value)
  else lists.set(name, [value])
}

async function* boundedContent(
  name: string,
  maxSize: number,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > maxSize) {
      const detail = `The file ${name} is larger than ${maxSize} bytes.`
      throw new PayloadTooLarge(detail, { errors: [issueOf(name, `must have at most ${maxSize} bytes`)] })
    }
    yield chunk
  }
}

async function ignored(content: AsyncIterable<Buffer>): Promise<StoredContent> {
  let size = 0
  for await (const chunk of content) size += chunk.length
  return {
    size,
    open: () => {
      throw new Error('A file that is refused has no content.')
    },
  }
}

function invalid(name: string, message: string): InvalidInput {
  return new InvalidInput('The request does not fit its description.', { errors: [issueOf(name, message)] })
}

function issueOf(name: string, message: string) {
  return { in: 'body', path: `/${escapePointer(name)}`, message } as const
}
