import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Base, Controller, Field, file, Get, Item, notFound, Post, Session } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

const folder = mkdtempSync(join(tmpdir(), 'photos-')) // in a service, a folder that is kept

@Table({ tableName: 'photo', timestamps: false })
export class Photo extends Base<Photo> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false }) declare title: string
  @Column({ type: DataType.STRING(36), allowNull: false }) declare stored: string
}

class NewPhoto {
  @Field({ minLength: 1, maxLength: 100 }) title!: string
  @File({ maxSize: 5_000_000, mediaTypes: ['image/png', 'image/jpeg'] }) photo!: UploadedFile
}

@Controller('/photos')
export class PhotoController {
  @Post('/', Item.of(Photo))
  async create(@Multipart() { title, photo }: NewPhoto) {
    const stored = randomUUID() // never a name that a client has chosen
    await photo.saveTo(join(folder, stored))
    return { data: await Photo.create({ title, stored }) }
  }

  @Get('/:id/content', { produces: 'application/octet-stream', errors: { 404: 'There is no such photo.' } })
  async content(id: number, session: Session) {
    const photo = (await session.get(Photo, id)) ?? notFound('There is no such photo.')
    return file(photo.stored, { root: folder, name: photo.title })
  }
}
