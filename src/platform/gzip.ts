import { readText } from './fetch-json.ts'

/** Compresses a text. */
export async function gzip(text: string): Promise<ArrayBuffer> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer()
}

/** The text of compressed bytes; null if they are damaged, or the text is longer than `maxBytes`. */
export async function gunzip(bytes: ArrayBuffer, maxBytes: number): Promise<string | null> {
  try {
    return await readText(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), maxBytes, 'a compressed text')
  } catch {
    return null
  }
}
