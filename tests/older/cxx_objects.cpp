/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ bindings of MPI 2.2: datatypes, attributes, error handlers and exceptions, windows, files, generalized
 * requests, data representations. */
#include "cxx_test.h"

#include <cstring>
#include <string>
#include <unistd.h>

namespace {

int rank, ranks;

void datatypes()
{
    struct { char letter; double number; } cell = { 'x', 2.5 }, copy = { 0, 0 };
    const int lengths[2] = { 1, 1 };
    MPI::Datatype types[2] = { MPI::CHAR, MPI::DOUBLE };
    MPI::Aint places[2] = { MPI::Get_address(&cell.letter), MPI::Get_address(&cell.number) }, lb, extent;
    char packed[100], name[MPI::MAX_OBJECT_NAME];
    int position = 0, len = 0;

    places[1] -= places[0];
    places[0] = 0;
    MPI::Datatype pair = MPI::Datatype::Create_struct(2, lengths, places, types).Create_resized(0, sizeof cell);
    pair.Commit();
    pair.Set_name("pair");
    pair.Get_name(name, len);
    pair.Get_extent(lb, extent);
    CHECK(!std::strcmp(name, "pair") && extent == (MPI::Aint)sizeof cell && pair.Get_size() == 9);
    pair.Pack(&cell, 1, packed, sizeof packed, position, MPI::COMM_SELF);
    len = position;
    position = 0;
    pair.Unpack(packed, len, &copy, 1, position, MPI::COMM_SELF);
    CHECK(copy.letter == 'x' && copy.number == 2.5);
    pair.Free();
    CHECK(pair == MPI::DATATYPE_NULL);
}

int copied, deleted;

int copy_attribute(const MPI::Comm &old, int, void *extra, void *in, void *out, bool &flag)
{
    CHECK(dynamic_cast<const MPI::Graphcomm *>(&old) && extra == &copied);
    copied++;
    *static_cast<void **>(out) = in;
    flag = true;
    return MPI::SUCCESS;
}

int delete_attribute(MPI::Comm &, int, void *, void *)
{
    deleted++;
    return MPI::SUCCESS;
}

void attributes()
{
    int key = MPI::Comm::Create_keyval(copy_attribute, delete_attribute, &copied), value = 7, *found = 0;
    const int index[1] = { 0 };
    void *of_world;

    if (rank == 0) {
        MPI::Graphcomm graph = MPI::COMM_SELF.Create_graph(1, index, 0, false);
        graph.Set_attr(key, &value);
        MPI::Graphcomm other = graph.Dup();
        CHECK(copied == 1 && other.Get_attr(key, &found) && found == &value);
        other.Free();
        graph.Delete_attr(key);
        CHECK(deleted == 2 && !graph.Get_attr(key, &found));
        graph.Free();
    }
    MPI::Comm::Free_keyval(key);
    CHECK(key == MPI::KEYVAL_INVALID);
    CHECK(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &of_world) && *static_cast<int *>(of_world) >= 32767);

    key = MPI::Datatype::Create_keyval(MPI::Datatype::DUP_FN, MPI::Datatype::NULL_DELETE_FN, 0);
    MPI::Datatype type = MPI::INT.Dup();
    type.Set_attr(key, &value);
    MPI::Datatype twin = type.Dup();
    CHECK(twin.Get_attr(key, &found) && found == &value);
    type.Free();
    twin.Free();
    MPI::Datatype::Free_keyval(key);
}

int told;

void tell(MPI::Comm &comm, int *code, ...)
{
    CHECK(comm.Get_size() == ranks && MPI::Get_error_class(*code) == MPI::ERR_RANK);
    told++;
}

void errors()
{
    int value = 0;
    bool is_caught = false;
    MPI::Errhandler teller = MPI::Comm::Create_errhandler(tell);

    MPI::COMM_WORLD.Set_errhandler(teller);
    MPI::COMM_WORLD.Send(&value, 1, MPI::INT, ranks, 0);
    CHECK(told == 1);
    teller.Free();

    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    CHECK(MPI::COMM_WORLD.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        MPI::COMM_WORLD.Send(&value, 1, MPI::INT, ranks + 3, 0);
    } catch (MPI::Exception &e) {
        is_caught = e.Get_error_class() == MPI::ERR_RANK && std::strstr(e.Get_error_string(), "dest");
    }
    CHECK(is_caught);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
    MPI::COMM_WORLD.Send(&value, 1, MPI::INT, ranks, 0);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);

    MPI::FILE_NULL.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    is_caught = false;
    try {
        MPI::File::Open(MPI::COMM_SELF, "/no/such/folder/file", MPI::MODE_RDONLY, MPI::INFO_NULL);
    } catch (const MPI::Exception &e) {
        is_caught = e.Get_error_class() == MPI::ERR_NO_SUCH_FILE;
    }
    CHECK(is_caught);
}

void windows()
{
    int shelf[2] = { -1, -1 }, value = 5 + rank;
    MPI::Win win = MPI::Win::Create(shelf, sizeof shelf, sizeof(int), MPI::INFO_NULL, MPI::COMM_WORLD);

    win.Fence(0);
    win.Put(&value, 1, MPI::INT, (rank + 1) % ranks, 0, 1, MPI::INT);
    win.Fence(0);
    CHECK(shelf[0] == 5 + (rank + ranks - 1) % ranks && shelf[1] == -1);
    win.Lock(MPI::LOCK_SHARED, rank, 0);
    win.Accumulate(&value, 1, MPI::INT, rank, 1, 1, MPI::INT, MPI::SUM);
    win.Unlock(rank);
    CHECK(shelf[1] == value - 1);
    win.Free();
}

void twice(void *user, MPI::Datatype &, int count, void *file, MPI::Offset position, void *)
{
    for (int i = 0; i < count; i++)
        static_cast<int *>(user)[position + i] = 2 * static_cast<int *>(file)[i];
}

void half(void *user, MPI::Datatype &, int count, void *file, MPI::Offset position, void *)
{
    for (int i = 0; i < count; i++)
        static_cast<int *>(file)[i] = static_cast<int *>(user)[position + i] / 2;
}

void extent_of(const MPI::Datatype &datatype, MPI::Aint &extent, void *)
{
    extent = datatype.Get_size();
}

void files()
{
    char name[100] = "";
    int out[2] = { 2 * rank, 20 }, in[2] = { -1, -1 };
    MPI::Status status;
    MPI::Offset disp;
    MPI::Datatype etype, filetype;

    std::snprintf(name, sizeof name, "/tmp/parley-cxx-%d", (int)getpid());
    MPI::COMM_WORLD.Bcast(name, sizeof name, MPI::CHAR, 0);
    MPI::File file = MPI::File::Open(MPI::COMM_WORLD, name, MPI::MODE_RDWR | MPI::MODE_CREATE | MPI::MODE_DELETE_ON_CLOSE,
                                     MPI::INFO_NULL);
    file.Write_at_all((MPI::Offset)(sizeof out * rank), out, 2, MPI::INT, status);
    MPI::COMM_WORLD.Barrier();
    CHECK(status.Get_count(MPI::INT) == 2 && file.Get_size() == (MPI::Offset)(sizeof out * ranks));
    MPI::Request read = file.Iread_at((MPI::Offset)(sizeof out * rank), in, 2, MPI::INT);
    read.Wait(status);
    CHECK(in[0] == 2 * rank && in[1] == 20);
    file.Seek(8, MPI::SEEK_SET);
    file.Seek(4, SEEK_CUR == MPI::SEEK_CUR ? 0 : MPI::SEEK_CUR); /* stdio's name is still one */
    CHECK(file.Get_position() == (SEEK_CUR == MPI::SEEK_CUR ? 4 : 12));

    MPI::Register_datarep("halved", twice, half, extent_of, 0);
    file.Set_view(0, MPI::INT, MPI::INT, "halved", MPI::INFO_NULL);
    file.Get_view(disp, etype, filetype, name);
    CHECK(disp == 0 && etype == MPI::INT && !std::strcmp(name, "halved"));
    file.Write_at_all(2 * rank, out, 2, MPI::INT);
    file.Set_view(0, MPI::INT, MPI::INT, "native", MPI::INFO_NULL);
    file.Read_at_all(2 * rank, in, 2, MPI::INT);
    CHECK(in[0] == rank && in[1] == 10);
    file.Close();
    CHECK(file == MPI::FILE_NULL);
}

int freed;

int query(void *extra, MPI::Status &status)
{
    status.Set_elements(MPI::INT, *static_cast<int *>(extra));
    status.Set_cancelled(false);
    status.Set_source(3);
    return MPI::SUCCESS;
}

int free_it(void *)
{
    freed++;
    return MPI::SUCCESS;
}

int cancel(void *, bool)
{
    return MPI::SUCCESS;
}

void generalized()
{
    int count = 11;
    MPI::Status status;
    MPI::Grequest request = MPI::Grequest::Start(query, free_it, cancel, &count);

    CHECK(!request.Test());
    request.Complete();
    request.Wait(status);
    CHECK(status.Get_count(MPI::INT) == 11 && status.Get_source() == 3 && freed == 1);
}

void infos()
{
    char value[8] = "";
    int len = 0;
    MPI::Info info = MPI::Info::Create();

    info.Set("color", "blue");
    CHECK(info.Get("color", 7, value) && !std::strcmp(value, "blue") && info.Get_nkeys() == 1);
    CHECK(info.Get_valuelen("color", len) && len == 4 && !info.Get("size", 7, value));
    info.Delete("color");
    info.Free();
}

} // namespace

int main()
{
    CHECK(MPI::Init_thread(MPI::THREAD_FUNNELED) >= MPI::THREAD_FUNNELED);
    rank = MPI::COMM_WORLD.Get_rank();
    ranks = MPI::COMM_WORLD.Get_size();
    datatypes();
    attributes();
    errors();
    windows();
    files();
    generalized();
    infos();
    MPI::Finalize();
}
