import { randomUUID } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import {
  Base,
  conflict,
  Controller,
  Delete,
  Field,
  Get,
  HttpError,
  Injectable,
  notFound,
  Post,
  redirect,
  select,
  Session,
  withSession,
} from 'sequitur'
import { type CreationOptional, Op } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'document', timestamps: false })
export class Document extends Base<Document> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false }) declare name: string
  /** That of the object: never a name that a client has chosen. */
  @Column({ type: DataType.STRING(36), allowNull: false }) declare key: string
  @Column({ type: DataType.DATE(3), allowNull: false }) declare created: Date
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare stored: CreationOptional<boolean>
}

export class BucketSettings {
  /** `https://bucket.s3.eu-central-1.amazonaws.com`, or that of another store with the same protocol. */
  @Field({ format: 'uri' }) bucketUrl!: string
  @Field({ default: 'us-east-1' }) bucketRegion!: string
  @Field() accessKeyId!: string
  @Field() secretAccessKey!: string
}

@Injectable({ lifetime: 'application' })
export class Bucket {
  readonly #url: string
  readonly #client: AwsClient

  constructor({ bucketUrl, bucketRegion, accessKeyId, secretAccessKey }: BucketSettings) {
    this.#url = bucketUrl
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region: bucketRegion, retries: 2 })
  }

  /** A URL with which a client may send, or read, one object within 15 minutes. */
  async urlFor(method: 'PUT' | 'GET', key: string): Promise<string> {
    const url = `${this.#url}/${key}?X-Amz-Expires=900`
    return (await this.#client.sign(url, { method, aws: { signQuery: true } })).url
  }

  async has(key: string): Promise<boolean> {
    const { status } = await this.#send('HEAD', key)
    return status === 200
  }

  async remove(key: string): Promise<void> {
    await this.#send('DELETE', key)
  }

  /** @throws HttpError 503 if the store does not answer as it should. */
  async #send(method: 'HEAD' | 'DELETE', key: string): Promise<Response> {
    const signal = AbortSignal.timeout(5000)
    const response = await this.#client.fetch(`${this.#url}/${key}`, { method, signal }).catch(() => undefined)
    if (!response || ![200, 204, 404].includes(response.status)) throw new HttpError(503, 'The documents are away')
    return response
  }
}

class NewDocument {
  @Field({ minLength: 1, maxLength: 200 }) name!: string
}
class Upload {
  @Field({ type: 'integer' }) id!: number
  @Field({ description: 'Send the bytes to it by PUT, then POST /documents/{id}/stored.' }) url!: string
}

@Controller('/documents')
export class DocumentController {
  constructor(private readonly bucket: Bucket) {}

  /** The row is first: whatever happens after COMMIT, `removeAbandoned` finds it. */
  @Post('/', Upload)
  async create({ name }: NewDocument, session: Session) {
    const document = session.add(Document.build({ name, key: randomUUID(), created: new Date() }))
    await session.flush()
    return { id: document.id, url: await this.bucket.urlFor('PUT', document.key) }
  }

  @Post('/:document_id/stored', { status: 204, errors: { 404: 'Document not found', 409: 'Send its bytes first' } })
  async confirm(document_id: number, session: Session) {
    const document = (await session.get(Document, document_id)) ?? notFound('Document not found')
    if (!(await this.bucket.has(document.key))) conflict('Send its bytes first')
    await document.update({ stored: true })
  }

  @Get('/:document_id', { status: 302, errors: { 404: 'Document not found' } })
  async read(document_id: number, session: Session) {
    const document = await session.get(Document, document_id)
    if (!document?.stored) return notFound('Document not found')
    return redirect(await this.bucket.urlFor('GET', document.key), { status: 302, external: true })
  }

  /** The object goes after the row: if the row stays, so does the object. What a crash leaves costs only its bytes. */
  @Delete('/:document_id', { status: 204, errors: { 404: 'Document not found' } })
  async remove(document_id: number, session: Session) {
    const document = (await session.get(Document, document_id)) ?? notFound('Document not found')
    session.delete(document)
    session.afterResponse(() => this.bucket.remove(document.key))
  }
}

/** A job: removes what was begun before a time, and never confirmed. The object is first: a row without one is found again. */
export async function removeAbandoned(bucket: Bucket, before: Date): Promise<number> {
  return withSession(async (session) => {
    const where = { stored: false, created: { [Op.lt]: before } }
    const abandoned = await session.all(select(Document, { where, limit: 100, lock: true, skipLocked: true }))
    for (const document of abandoned) {
      await bucket.remove(document.key)
      session.delete(document)
    }
    return abandoned.length
  })
}
