CREATE TABLE `catalog_entries` (
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`body` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`kind`, `id`)
);
--> statement-breakpoint
CREATE TABLE `delegations` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text,
	`delegator_user_id` text NOT NULL,
	`aws_user` text NOT NULL,
	`aws_region` text NOT NULL,
	`repository` text NOT NULL,
	`tag` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `delegations_team_created` ON `delegations` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `spend_limits` (
	`team_id` text PRIMARY KEY NOT NULL,
	`micros_per_hour` integer,
	`micros_per_month` integer,
	`ceiling_micros_per_hour` integer,
	`ceiling_micros_per_month` integer,
	`stops_pods` integer DEFAULT false NOT NULL,
	`webhook_sealed` text,
	`warned_month` text,
	`warned_rate` integer DEFAULT false NOT NULL,
	`checked_at` integer DEFAULT 0 NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `spend_limits_watched` ON `spend_limits` (`checked_at`) WHERE "spend_limits"."stops_pods" = 1 OR "spend_limits"."webhook_sealed" IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `usage` (
	`workload_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`kind` text NOT NULL,
	`resource_id` text NOT NULL,
	`team_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`cloud` text,
	`gpu_type_id` text,
	`gpu_count` integer DEFAULT 0 NOT NULL,
	`vcpus` real DEFAULT 0 NOT NULL,
	`disk_gb` integer DEFAULT 0 NOT NULL,
	`volume_type` text,
	`gpu_nanos_per_hour` integer DEFAULT 0 NOT NULL,
	`cpu_nanos_per_hour` integer DEFAULT 0 NOT NULL,
	`disk_nanos_per_hour` integer DEFAULT 0 NOT NULL,
	`gpu_micros` integer DEFAULT 0 NOT NULL,
	`cpu_micros` integer DEFAULT 0 NOT NULL,
	`disk_micros` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`workload_id`, `sequence`)
);
--> statement-breakpoint
CREATE INDEX `usage_team_kind_ended` ON `usage` (`team_id`,`kind`,`ended_at`,`started_at`);--> statement-breakpoint
CREATE TABLE `volume_tombstones` (
	`volume_id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`team_id` text NOT NULL,
	`data_center_id` text,
	`size_gb` integer,
	`deleted_at` integer NOT NULL,
	`wiped_at` integer
);
--> statement-breakpoint
CREATE INDEX `volume_tombstones_open` ON `volume_tombstones` (`data_center_id`) WHERE "volume_tombstones"."wiped_at" IS NULL;--> statement-breakpoint
CREATE INDEX `volume_tombstones_wiped` ON `volume_tombstones` (`wiped_at`);--> statement-breakpoint
ALTER TABLE `allocations` ADD `charged_from` integer;--> statement-breakpoint
ALTER TABLE `allocations` ADD `gpu_nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `allocations` ADD `cpu_nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `allocations` ADD `disk_nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `global_volumes` ADD `used_bytes` integer;--> statement-breakpoint
ALTER TABLE `global_volumes` ADD `used_at` integer;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `charged_from` integer;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `charge_sequence` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `used_bytes` integer;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `used_at` integer;--> statement-breakpoint
ALTER TABLE `network_volumes` ADD `size_enforced` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `pods` ADD `stop_after` integer;--> statement-breakpoint
ALTER TABLE `pods` ADD `terminate_after` integer;--> statement-breakpoint
ALTER TABLE `pods` ADD `disk_nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pods` ADD `stopped_disk_nanos_per_hour` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `pods` ADD `disk_charged_from` integer;--> statement-breakpoint
CREATE INDEX `pods_due` ON `pods` (`stop_after`) WHERE "pods"."stop_after" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_end_due` ON `pods` (`terminate_after`) WHERE "pods"."terminate_after" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `templates_public` ON `templates` (`created_at`,`id`) WHERE "templates"."is_public" = 1;--> statement-breakpoint
-- By hand: rows of the former table of usage come over, with what they amount to.
INSERT INTO `usage` (`workload_id`, `sequence`, `kind`, `resource_id`, `team_id`, `started_at`, `ended_at`, `cloud`, `gpu_type_id`, `gpu_count`,
	`vcpus`, `disk_gb`, `gpu_nanos_per_hour`, `cpu_nanos_per_hour`, `gpu_micros`, `cpu_micros`)
SELECT `pod_id`, `version`, 'POD', `pod_id`, `team_id`, `started_at`, `ended_at`, `cloud`, `gpu_type_id`, `gpu_count`, `vcpus`, `disk_gb`,
	iif(`is_gpu`, `nanos`, 0), iif(`is_gpu`, 0, `nanos`), iif(`is_gpu`, `micros`, 0), iif(`is_gpu`, 0, `micros`)
FROM (
	SELECT *, (`nanos` / 1000) * `hours` + ((`nanos` % 1000) * `hours` * 3600000 + `nanos` * `rest_ms`) / 3600000000 AS `micros`
	FROM (
		SELECT *, `gpu_type_id` IS NOT NULL AS `is_gpu`, CAST(ROUND(`price_per_hour` * 1000000000) AS INTEGER) AS `nanos`,
			MAX(0, `ended_at` - `started_at`) / 3600000 AS `hours`, MAX(0, `ended_at` - `started_at`) % 3600000 AS `rest_ms`
		FROM `pod_usage`
	)
);--> statement-breakpoint
-- A Worker of the release before writes to the former table until this one is deployed, and again where somebody goes back to it.
CREATE TRIGGER `pod_usage_comes_over` AFTER INSERT ON `pod_usage` BEGIN
	INSERT INTO `usage` (`workload_id`, `sequence`, `kind`, `resource_id`, `team_id`, `started_at`, `ended_at`, `cloud`, `gpu_type_id`, `gpu_count`,
		`vcpus`, `disk_gb`, `gpu_nanos_per_hour`, `cpu_nanos_per_hour`, `gpu_micros`, `cpu_micros`)
	SELECT NEW.`pod_id`, NEW.`version`, 'POD', NEW.`pod_id`, NEW.`team_id`, NEW.`started_at`, NEW.`ended_at`, NEW.`cloud`, NEW.`gpu_type_id`,
		NEW.`gpu_count`, NEW.`vcpus`, NEW.`disk_gb`,
		iif(`is_gpu`, `nanos`, 0), iif(`is_gpu`, 0, `nanos`), iif(`is_gpu`, `micros`, 0), iif(`is_gpu`, 0, `micros`)
	FROM (
		SELECT *, (`nanos` / 1000) * `hours` + ((`nanos` % 1000) * `hours` * 3600000 + `nanos` * `rest_ms`) / 3600000000 AS `micros`
		FROM (
			SELECT NEW.`gpu_type_id` IS NOT NULL AS `is_gpu`, CAST(ROUND(NEW.`price_per_hour` * 1000000000) AS INTEGER) AS `nanos`,
				MAX(0, NEW.`ended_at` - NEW.`started_at`) / 3600000 AS `hours`, MAX(0, NEW.`ended_at` - NEW.`started_at`) % 3600000 AS `rest_ms`
		)
	);
END;
