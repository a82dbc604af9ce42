CREATE INDEX `pods_former` ON `pods` (`changed_at`) WHERE "pods"."status" = 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_team_former` ON `pods` (`team_id`,`changed_at`) WHERE "pods"."status" = 'TERMINATED';--> statement-breakpoint
UPDATE `pods` SET `registry_id` = NULL, `spec` = json_object(
	'container', json_object('image', '', 'args', '', 'diskGb', json_extract(`spec`, '$.container.diskGb'), 'env', json('{}'), 'ports', json('[]'), 'registry', NULL),
	'compute', json_extract(`spec`, '$.compute'),
	'cloud', json_extract(`spec`, '$.cloud'),
	'dataCenterIds', json('[]'),
	'mounts', json('{}'),
	'globalNetworking', json('false'),
	'onHostLoss', json_extract(`spec`, '$.onHostLoss')
) WHERE `status` = 'TERMINATED';--> statement-breakpoint
DELETE FROM `releases` WHERE `endpoint_id` IN (SELECT `id` FROM `endpoints` WHERE `deleted_at` IS NOT NULL);--> statement-breakpoint
UPDATE `endpoints` SET `config` = '{}', `granted_bytes` = 0 WHERE `deleted_at` IS NOT NULL;
