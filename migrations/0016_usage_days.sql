CREATE TABLE `usage_days` (
	`team_id` text NOT NULL,
	`kind` text NOT NULL,
	`day_ms` integer NOT NULL,
	`resource_id` text NOT NULL,
	`gpu_micros` integer NOT NULL,
	`cpu_micros` integer NOT NULL,
	`disk_micros` integer NOT NULL,
	`fast_micros` integer NOT NULL,
	PRIMARY KEY(`team_id`, `kind`, `day_ms`, `resource_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `usage_days_resource` ON `usage_days` (`team_id`,`resource_id`,`day_ms`);--> statement-breakpoint
CREATE TABLE `usage_removals` (
	`id` integer PRIMARY KEY NOT NULL,
	`until_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_totals` (
	`team_id` text NOT NULL,
	`kind` text NOT NULL,
	`day_ms` integer NOT NULL,
	`gpu_micros` integer NOT NULL,
	`cpu_micros` integer NOT NULL,
	`disk_micros` integer NOT NULL,
	`fast_micros` integer NOT NULL,
	PRIMARY KEY(`team_id`, `kind`, `day_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `usage_resource_ended` ON `usage` (`resource_id`,`ended_at`);--> statement-breakpoint
CREATE INDEX `usage_ended` ON `usage` (`ended_at`);--> statement-breakpoint
-- By hand from here, and WITHOUT ROWID above. The parts of each interval in UTC days, rounded as `partMicros` of the domain does (BIL-6).
CREATE VIEW `usage_parts` AS
SELECT `row_id`, `team_id`, `kind`, `day_ms`, `resource_id`, `is_fast`,
	(`gpu_nanos_per_hour` / 1000) * `to_hours` + ((`gpu_nanos_per_hour` % 1000) * `to_hours` * 3600000 + `gpu_nanos_per_hour` * `to_rest`) / 3600000000
		- ((`gpu_nanos_per_hour` / 1000) * `from_hours` + ((`gpu_nanos_per_hour` % 1000) * `from_hours` * 3600000 + `gpu_nanos_per_hour` * `from_rest`) / 3600000000) AS `gpu_micros`,
	(`cpu_nanos_per_hour` / 1000) * `to_hours` + ((`cpu_nanos_per_hour` % 1000) * `to_hours` * 3600000 + `cpu_nanos_per_hour` * `to_rest`) / 3600000000
		- ((`cpu_nanos_per_hour` / 1000) * `from_hours` + ((`cpu_nanos_per_hour` % 1000) * `from_hours` * 3600000 + `cpu_nanos_per_hour` * `from_rest`) / 3600000000) AS `cpu_micros`,
	(`disk_nanos_per_hour` / 1000) * `to_hours` + ((`disk_nanos_per_hour` % 1000) * `to_hours` * 3600000 + `disk_nanos_per_hour` * `to_rest`) / 3600000000
		- ((`disk_nanos_per_hour` / 1000) * `from_hours` + ((`disk_nanos_per_hour` % 1000) * `from_hours` * 3600000 + `disk_nanos_per_hour` * `from_rest`) / 3600000000) AS `disk_micros`
FROM (
	SELECT *, `from_ms` / 3600000 AS `from_hours`, `from_ms` % 3600000 AS `from_rest`, `to_ms` / 3600000 AS `to_hours`, `to_ms` % 3600000 AS `to_rest`
	FROM (
		SELECT *, MAX(0, `day_ms` - `started_at`) AS `from_ms`, MIN(`ended_at`, `day_ms` + 86400000) - `started_at` AS `to_ms`
		FROM (
			SELECT u.*, u.rowid AS `row_id`, u.`volume_type` IS 'HIGH_PERFORMANCE' AS `is_fast`, (u.`started_at` / 86400000 + d.`key`) * 86400000 AS `day_ms`
			FROM `usage` u CROSS JOIN json_each(
				-- As many members as the interval touches days.
				'[' || rtrim(replace(hex(zeroblob((u.`ended_at` - 1) / 86400000 - u.`started_at` / 86400000 + 1)), '00', '0,'), ',') || ']') d
			WHERE u.`ended_at` > u.`started_at`
		)
	)
);--> statement-breakpoint
INSERT INTO `usage_days` SELECT `team_id`, `kind`, `day_ms`, `resource_id`, SUM(`gpu_micros`), SUM(`cpu_micros`), SUM(iif(`is_fast`, 0, `disk_micros`)), SUM(iif(`is_fast`, `disk_micros`, 0))
FROM `usage_parts` WHERE `gpu_micros` + `cpu_micros` + `disk_micros` > 0 GROUP BY `team_id`, `kind`, `day_ms`, `resource_id`;--> statement-breakpoint
INSERT INTO `usage_totals` SELECT `team_id`, `kind`, `day_ms`, SUM(`gpu_micros`), SUM(`cpu_micros`), SUM(`disk_micros`), SUM(`fast_micros`)
FROM `usage_days` GROUP BY `team_id`, `kind`, `day_ms`;--> statement-breakpoint
-- Whatever writes an interval, also a Worker of the release before, adds to the sums in the same statement (BIL-40).
CREATE TRIGGER `usage_is_summed` AFTER INSERT ON `usage` BEGIN
	INSERT INTO `usage_days` SELECT `team_id`, `kind`, `day_ms`, `resource_id`, `gpu_micros`, `cpu_micros`, iif(`is_fast`, 0, `disk_micros`), iif(`is_fast`, `disk_micros`, 0)
	FROM `usage_parts` WHERE `row_id` = NEW.rowid AND `gpu_micros` + `cpu_micros` + `disk_micros` > 0
	ON CONFLICT DO UPDATE SET `gpu_micros` = `gpu_micros` + excluded.`gpu_micros`, `cpu_micros` = `cpu_micros` + excluded.`cpu_micros`, `disk_micros` = `disk_micros` + excluded.`disk_micros`, `fast_micros` = `fast_micros` + excluded.`fast_micros`;
	INSERT INTO `usage_totals` SELECT `team_id`, `kind`, `day_ms`, `gpu_micros`, `cpu_micros`, iif(`is_fast`, 0, `disk_micros`), iif(`is_fast`, `disk_micros`, 0)
	FROM `usage_parts` WHERE `row_id` = NEW.rowid AND `gpu_micros` + `cpu_micros` + `disk_micros` > 0
	ON CONFLICT DO UPDATE SET `gpu_micros` = `gpu_micros` + excluded.`gpu_micros`, `cpu_micros` = `cpu_micros` + excluded.`cpu_micros`, `disk_micros` = `disk_micros` + excluded.`disk_micros`, `fast_micros` = `fast_micros` + excluded.`fast_micros`;
END;
