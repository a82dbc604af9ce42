import { KEY_KINDS } from '../../contract/key-kinds.ts'
import { openDatabase } from '../../db/client.ts'
import { findPodOwner } from '../../db/pods/find-pods.ts'
import type { Env } from '../../env.ts'
import { equalInConstantTime, keyedDigest } from '../../platform/crypto.ts'
import { masterSecrets } from '../../platform/seal.ts'

const POD_KEY = /^ppd_([0-9a-z]{1,64})_[A-Za-z0-9_-]{43}$/

/**
 * Returns the API key that is injected into a pod (AUT-6). It is derived and stored nowhere, gives access to this pod only and becomes
 * invalid with it.
 */
export async function issuePodKey(env: Env, podId: string): Promise<string> {
  return podKey(masterSecrets(env)[0], podId)
}

async function podKey(secret: string, podId: string): Promise<string> {
  return `${KEY_KINDS.pod}_${podId}_${await keyedDigest(secret, `pod\n${podId}`)}`
}

/** Returns the pod and the team of a key; null for an invalid key or a terminated pod. */
export async function findPodOfKey(env: Env, token: string): Promise<{ podId: string; teamId: string } | null> {
  const podId = POD_KEY.exec(token)?.[1]
  if (podId === undefined) return null
  // Bounded: a plane has two master secrets at most.
  const good = await Promise.all(masterSecrets(env).map((secret) => podKey(secret, podId)))
  if (!good.some((expected) => equalInConstantTime(token, expected))) return null
  const pod = await findPodOwner(openDatabase(env.DB), podId)
  return pod && pod.status !== 'TERMINATED' ? { podId, teamId: pod.teamId } : null
}
