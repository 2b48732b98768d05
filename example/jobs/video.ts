import { Base, Field } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'video', timestamps: false })
export class Video extends Base<Video> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(500), allowNull: false }) declare source: string
}

export class NewVideo {
  @Field({ format: 'uri', maxLength: 500 }) source!: string
}

/** What the workers of the other engine get. */
export class Transcode {
  @Field({ type: 'integer' }) video_id!: number
}
