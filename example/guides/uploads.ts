import { Controller, Field, Post } from 'sequitur'
import { File, Multipart, UploadedFile } from 'sequitur/uploads'

class Attachment {
  @Field({ maxLength: 100 }) title!: string
  @File({ maxSize: 5_000_000, mediaTypes: ['image/png', 'image/jpeg'] }) photo!: UploadedFile
}

@Controller('/attachments')
export class AttachmentController {
  @Post('/', { title: String, bytes: 'integer' })
  create(@Multipart() { title, photo }: Attachment) {
    return { title, bytes: photo.size }
  }
}
