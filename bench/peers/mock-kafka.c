// Owns a broker that speaks Kafka's protocol: librdkafka's mock cluster, made by its authors to test
// that client with. It keeps everything in memory and promises nothing about disks. Prints its
// address; ends with its standard input. Arguments: topic partitions, pairwise.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  char why[512];
  rd_kafka_conf_t *conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "log_level", "2", why, sizeof(why));
  rd_kafka_t *host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
  if (host == NULL) {
    fprintf(stderr, "%s\n", why);
    return 1;
  }
  rd_kafka_mock_cluster_t *cluster = rd_kafka_mock_cluster_new(host, 1);
  for (int i = 1; i + 1 < count; i += 2) {
    rd_kafka_mock_topic_create(cluster, arguments[i], atoi(arguments[i + 1]), 1);
  }
  printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
