/**
 * Makes sure that the object's one alarm fires by `atMs`, and leaves an earlier one alone. Every part of the object says so for itself: an
 * alarm that fired is gone, so each of them says it again whenever it has looked.
 */
export async function wakeBy(storage: DurableObjectStorage, atMs: number): Promise<void> {
  const armedMs = await storage.getAlarm()
  if (armedMs === null || armedMs > atMs) await storage.setAlarm(atMs)
}
